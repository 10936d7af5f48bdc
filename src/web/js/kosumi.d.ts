/** A colour. */
export type Color = "black" | "white";

/** A point such as `D4`, or `pass`. */
export type Vertex = string;

/** Source of a file: its bytes, or its URL. Relative URLs are relative to `kosumi.js`. */
export type Source = ArrayBuffer | ArrayBufferView | URL | string;

export interface Options {
  /** Module. By default `kosumi-relaxed.wasm` or `kosumi.wasm` beside `kosumi.js`. */
  wasm?: Source | WebAssembly.Module;
  /** Whether the default module uses relaxed SIMD. By default, if this browser or Node supports it. */
  isRelaxed?: boolean;
  /** Network file. By default `small.bin.gz` beside `kosumi.js`. With `null`, playouts evaluate. */
  network?: Source | null;
  /** Memory of the search and the cache of evaluations, in MiB. 64 by default. */
  memory?: number;
  /** Limit of all memory of the module, in MiB. By default 128 MiB more than twice `memory`, and 8 MiB for each further thread. */
  memoryLimit?: number;
  /**
   * Number of search threads, from 1 to 64. 1 by default. With several, the same seed does not give the same moves, `now` cannot
   * be chosen, and in browsers the page must be isolated from other origins and the engine run in a worker.
   */
  threads?: number;
  /**
   * Device that evaluates the network: `cpu` (default), `gpu` (a graphics card through WebGPU, or an error), or `auto` (a graphics
   * card if it computes what the processor computes, and faster). A card needs threads, in browsers as `threads` does, and WebGPU,
   * which Node does not have. The search then has 16 threads, so the same seed does not give the same moves.
   */
  device?: "cpu" | "gpu" | "auto";
  /** Seed of all random numbers. 1 by default. */
  seed?: number;
  /** Expected result, from -1 to 1, below which the engine resigns. -0.9 by default; `null` is never. */
  resign?: number | null;
  /** Kernel: `portable`, `simd128` or `relaxed-simd`. By default the fastest one of the module. */
  kernel?: string;
  /** Precision: `f32` or `int8`. By default the fastest one whose results hardly differ. */
  precision?: string;
  /** Time since any fixed point in the past, in milliseconds. By default `performance.now`. */
  now?: () => number;
}

export interface Setup {
  /** Number of columns and rows, or both. 19 by default. */
  size?: number | [number, number];
  /** Name of the rules, such as `japanese` or `tromp-taylor`. By default those of the present game. */
  rules?: string;
  /** By default the usual one with the rules. */
  komi?: number;
  /** Stones of a handicap. */
  handicap?: Vertex[];
  /** Moves, with or without their colours. */
  moves?: (Vertex | [Color, Vertex])[];
  toMove?: Color;
}

export interface Position {
  size: [number, number];
  rules: string;
  komi: number;
  handicap: number;
  toMove: Color;
  /** Rows from the top: `X` for black stones, `O` for white ones, `.` for empty points. */
  board: string[];
  moves: [Color, Vertex][];
  lastMove: Vertex | null;
  /** Number of stones that each side has captured. */
  captures: { black: number; white: number };
  isOver: boolean;
  result: string | null;
  /** Game as a record (SGF). */
  record: string;
}

/** A move of an analysis. All numbers are from Black's perspective. */
export interface MoveAnalysis {
  vertex: Vertex;
  visits: number;
  /** Probability of the move before the search, from 0 to 1. */
  prior: number;
  /** Probability that Black wins, from 0 to 1. */
  winRate: number;
  /** Black's lead in points. */
  lead: number;
  scoreMean: number;
  /** The move and the best replies. */
  variation: Vertex[];
}

/** Analysis of a position. All numbers are from Black's perspective. */
export interface Analysis {
  toMove: Color;
  visits: number;
  /** Number of simulations of the latest slice. */
  simulations: number;
  winRate: number;
  lead: number;
  scoreMean: number;
  scoreDeviation: number;
  /** Moves that have been searched, the best first. */
  moves: MoveAnalysis[];
  /** Expected owner of each point, from 1 for Black to -1 for White, row by row from the top. */
  ownership: number[] | null;
}

export interface SearchOptions {
  /** Side that moves. By default the side to move. */
  color?: Color;
  /** Number of visits at which the search ends, including those of earlier searches of the position. */
  visits?: number;
  /** Time of the search. */
  milliseconds?: number;
  /** Number of simulations between two pauses in which other work can run. By default 16 for each thread. */
  sliceVisits?: number;
  /** Whether analyses contain the owners of the points. */
  ownership?: boolean;
  /** Called after each slice. */
  onReport?: (analysis: Analysis) => void;
  /** Stops the search: `analyse` then returns what it has found, and `genmove` rejects and plays nothing. */
  signal?: AbortSignal;
}

export interface Choice {
  /** Move that was played, or `resign`. */
  move: Vertex | "resign";
  analysis: Analysis | null;
  position: Position;
}

export interface Score {
  /** Black's points minus White's, with komi. */
  score: number;
  /** Result as in game records, such as `B+2.5`. */
  result: string;
  /** Owner of each point, row by row from the top. */
  owners: (Color | null)[];
  dead: Vertex[];
  seki: Vertex[];
  /** Number of points that neither side has enclosed. 0 once the game is over. */
  openPoints: number;
}

export interface Speed {
  /** Names of the kernel and the precision. */
  arithmetic: string;
  evaluationsPerSecond: number;
}

/** Error of the engine. Requests that are refused change nothing. */
export declare class KosumiError extends Error {
  /** Whether the engine has failed and was started anew, with the game as it was. */
  readonly isFatal: boolean;
}

/** Returns whether this browser or Node supports WebAssembly with SIMD, which Kosumi needs. */
export declare function supportsSimd(): boolean;

/** Returns whether this browser or Node supports relaxed SIMD, which is faster. */
export declare function supportsRelaxedSimd(): boolean;

/**
 * Returns whether a search can have several threads here: always in Node, and in workers of pages that browsers isolate from other
 * origins.
 */
export declare function supportsThreads(): boolean;

/** Returns the number of threads that suits this device: one less than its processors, except where there are two; 8 at most. */
export declare function usualThreads(): number;

/** One game and its engine. Use it in a worker: a slice of a search takes up to some tenths of a second. */
export declare class Kosumi {
  private constructor();
  /** Loads module and network and starts with an empty board of 19 by 19. */
  static create(options?: Options): Promise<Kosumi>;
  /** The present position. */
  readonly position: Position;
  /** Name of the graphics card that evaluates; `null` if the processor does, including after the card has failed. */
  readonly device: string | null;
  /** Memory of the module, in bytes. */
  readonly memoryUsage: number;
  /** Ends the threads. No method may be called afterwards. */
  close(): void;
  /** Starts another game. */
  setPosition(setup?: Setup): Position;
  play(vertex: Vertex, color?: Color): Position;
  /** Takes back the latest move. */
  undo(): Position;
  /** Searches for a move and plays it. */
  genmove(options: SearchOptions): Promise<Choice>;
  /** Searches the position. The statistics are kept for later searches. */
  analyse(options: SearchOptions): Promise<Analysis>;
  /** Returns the owners of all points and the score: counted if the game is over, otherwise expected. */
  score(): Score;
  /**
   * Reviews a record (SGF) and returns the review as a page (HTML). The game stays as it is. The call returns when the
   * review is done, so use a worker; `onProgress` is called meanwhile.
   */
  review(record: string, onProgress?: (done: number, total: number) => void): string;
  /** Returns the game as a record (SGF). */
  save(): string;
  /** Replaces the game by that of a record, or by its first `moves` moves. */
  load(record: string, moves?: number): { position: Position; notes: string[] };
  /** Returns a signature of the search, as `kosumi bench` prints them; with `kernel`, by the fastest kernel. */
  signature(kind?: "playouts" | "network" | "kernel"): bigint;
  /** Measures evaluations of the network per second. */
  speed(options?: {
    size?: number | [number, number];
    milliseconds?: number;
    kernel?: string;
    precision?: string;
  }): Speed;
}
