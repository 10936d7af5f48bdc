"""A second implementation of the rules of Go, for `scripts/soak` and `scripts/differential`.

It follows the Tromp-Taylor rules alone, is simple and slow, and shares no code with the program that it checks.

A board is a list of rows. A row is a list of '.', 'b' and 'w', one for each column. Positions are compared as text, so
nothing depends on hashes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"


class IllegalMove(Exception):
    """Raised for a move that is not legal."""


@dataclass(frozen=True)
class RuleSet:
    """A rule set."""

    ko: str = "positional"
    suicide: bool = False
    territory: bool = False
    # Points that do not count: none ("none"), those in seki ("seki"), or also two for each group ("all").
    tax: str = "none"
    # Points for White with N handicap stones: 0, N or N-1.
    bonus: str = "0"
    button: bool = False
    # Whether dead stones are never removed.
    all_alive: bool = False


RULES = {
    "chinese-kgs": RuleSet(bonus="N"),
    "tromp-taylor": RuleSet(suicide=True, all_alive=True),
    "cgos": RuleSet(all_alive=True),
    "chinese": RuleSet(ko="simple", bonus="N"),
    "japanese": RuleSet(ko="simple", territory=True, tax="seki"),
    "korean": RuleSet(ko="simple", territory=True, tax="seki"),
    "aga": RuleSet(ko="situational", bonus="N-1"),
    "aga-button": RuleSet(ko="situational", bonus="N-1", button=True),
    "new-zealand": RuleSet(ko="situational", suicide=True),
    "ing": RuleSet(suicide=True),
    "stone-scoring": RuleSet(ko="simple", tax="all"),
    "ancient-territory": RuleSet(ko="simple", territory=True, tax="all"),
}


def neighbours(columns: int, rows: int, column: int, row: int) -> list[tuple[int, int]]:
    """Returns the adjacent points on the board, as (column, row)."""
    around = [(column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)]
    return [(c, r) for c, r in around if 0 <= c < columns and 0 <= r < rows]


def reach(board: list[list[str]], column: int, row: int) -> tuple[set[tuple[int, int]], set[str]]:
    """Returns the points of the chain or empty region at this point, and the contents of their neighbours."""
    columns, rows = len(board[0]), len(board)
    content = board[row][column]
    seen, todo = {(column, row)}, [(column, row)]
    touched: set[str] = set()
    while todo:
        for c, r in neighbours(columns, rows, *todo.pop()):
            if board[r][c] != content:
                touched.add(board[r][c])
            elif (c, r) not in seen:
                seen.add((c, r))
                todo.append((c, r))
    return seen, touched


def clear(board: list[list[str]], points: set[tuple[int, int]]) -> None:
    """Removes stones from a board."""
    for column, row in points:
        board[row][column] = "."


class Game:
    """A game, whose moves can be of any colour and can be taken back.

    Invariant: `past` has the situations of all positions since the beginning, including the current one.
    """

    def __init__(self, rule: RuleSet, columns: int, rows: int, stones: list[tuple[int, int]]) -> None:
        """Begins with black handicap stones, after which White moves, or with an empty board."""
        self.rule, self.columns, self.rows = rule, columns, rows
        self.board = [["."] * columns for _ in range(rows)]
        for column, row in stones:
            self.board[row][column] = "b"
        self.handicap = len(stones)
        self.to_move = "w" if stones else "b"
        self.captures = {"b": 0, "w": 0}
        self.ko: tuple[int, int] | None = None
        self.past = [self.situation()]
        self.button = 0.0
        # Moves of Black before White's first move, which count as a handicap if there are several, and moves of White.
        self.first_plays = {"b": 0, "w": 0}
        self.earlier: list[dict[str, Any]] = []

    def situation(self) -> str:
        """Returns the stones, and the side to move under situational superko."""
        stones = "".join("".join(line) for line in self.board)
        return stones + (self.to_move if self.rule.ko == "situational" else "")

    def play(self, color: str, move: str) -> None:
        """Plays a move or a pass.

        # Errors

        Raises `IllegalMove`, and changes nothing, if the move is not legal.
        """
        before = self.state()
        try:
            self._play(color, move)
        except IllegalMove:
            self.restore(before)
            raise
        self.earlier.append(before)

    def undo(self) -> bool:
        """Takes back the latest move, and returns whether there was one."""
        if not self.earlier:
            return False
        self.restore(self.earlier.pop())
        return True

    def state(self) -> dict[str, Any]:
        """Returns everything that a move changes."""
        return {
            "board": [line.copy() for line in self.board],
            "to_move": self.to_move,
            "captures": self.captures.copy(),
            "ko": self.ko,
            "past": self.past.copy(),
            "button": self.button,
            "first_plays": self.first_plays.copy(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restores a result of `state`."""
        self.__dict__.update(state)

    def _play(self, color: str, move: str) -> None:
        other = "w" if color == "b" else "b"
        if move.lower() == "pass":
            self.ko = None
            if self.rule.button and self.button == 0.0:
                self.button = 0.5 if color == "b" else -0.5
            self.to_move = other
        else:
            self._place(color, other, move)
            # A pass never breaks the superko rule.
            if self.rule.ko != "simple" and self.situation() in self.past:
                raise IllegalMove("superko")
        self.past.append(self.situation())

    def _place(self, color: str, other: str, move: str) -> None:
        board, columns, rows = self.board, self.columns, self.rows
        if self.first_plays["w"] == 0 or color == "w":
            self.first_plays[color] += 1
        column, row = LETTERS.index(move[0].upper()), int(move[1:]) - 1
        if not (column < columns and row < rows):
            raise IllegalMove("not on the board")
        if board[row][column] != ".":
            raise IllegalMove("not empty")
        # Only the side whose stone was captured is barred from the point.
        if (column, row) == self.ko and color == self.to_move:
            raise IllegalMove("ko")
        board[row][column] = color
        captured: set[tuple[int, int]] = set()
        for c, r in neighbours(columns, rows, column, row):
            if board[r][c] == other:
                points, touched = reach(board, c, r)
                if "." not in touched:
                    clear(board, points)
                    captured |= points
        self.captures[color] += len(captured)
        own, touched = reach(board, column, row)
        if "." not in touched:
            if len(own) == 1:
                raise IllegalMove("single-stone suicide")
            if not self.rule.suicide:
                raise IllegalMove("suicide")
            clear(board, own)
            self.captures[other] += len(own)
        self.ko = None
        if self.rule.ko == "simple" and len(captured) == 1 and len(own) == 1:
            # The opponent must not recapture this single stone at once.
            liberties = [(c, r) for c, r in neighbours(columns, rows, column, row) if board[r][c] == "."]
            if len(liberties) == 1:
                self.ko = next(iter(captured))
        self.to_move = other


def replay(
    rule: RuleSet, columns: int, rows: int, stones: list[tuple[int, int]], moves: list[str]
) -> tuple[list[list[str]], int, float, float]:
    """Plays a game. Colours alternate. White begins if there are handicap stones.

    Returns the final board, the number of handicap stones, White's points for them, and Black's points for the button
    (0.5, 0, or -0.5 if White has it).

    # Errors

    Raises `IllegalMove` for a move that is not legal.
    """
    game = Game(rule, columns, rows, stones)
    for index, move in enumerate(moves):
        color = game.to_move
        try:
            game.play(color, move)
        except IllegalMove as illegal:
            raise IllegalMove(f"move {index + 1}, {color} {move}: {illegal}") from None
        # The positions before are not needed, because no move is taken back.
        game.earlier.clear()
    handicap = game.handicap or (game.first_plays["b"] if game.first_plays["b"] >= 2 else 0)
    bonus = {"0": 0, "N": handicap, "N-1": max(handicap - 1, 0)}[rule.bonus]
    return game.board, handicap, float(bonus), game.button


def count(board: list[list[str]], columns: int, rows: int) -> int:
    """Returns Black's area minus White's, in points. An area has stones, and empty regions that touch one colour
    only."""
    score = 0
    seen: set[tuple[int, int]] = set()
    for row in range(rows):
        for column in range(columns):
            content = board[row][column]
            if content != ".":
                score += 1 if content == "b" else -1
            elif (column, row) not in seen:
                points, touched = reach(board, column, row)
                seen |= points
                if len(touched) == 1:
                    score += len(points) if "b" in touched else -len(points)
    return score


def self_test() -> None:
    """Checks that an illegal last move is found, with the right reason, and that the end of games is scored
    correctly."""
    for rules, moves, mistake in [
        ("cgos", "A1 A1", "not empty"),
        ("cgos", "A6", "not on the board"),
        ("cgos", "A2 E5 B1 A1", "suicide"),
        ("tromp-taylor", "A2 E5 B1 A1", "suicide"),
        # White recaptures a ko in the corner at once.
        ("chinese", "B1 C1 A2 D2 B3 C3 D5 B2 C2 B2", "ko"),
        ("chinese-kgs", "B1 C1 A2 D2 B3 C3 D5 B2 C2 B2", "superko"),
        # The recapture repeats an earlier position with the same side to move.
        ("aga", "B1 C1 A2 D2 B3 C3 D5 B2 C2 B2", "superko"),
    ]:
        try:
            replay(RULES[rules], 5, 5, [], moves.split())
        except IllegalMove as illegal:
            if not str(illegal).endswith(mistake):
                raise AssertionError(f"{moves}: {illegal} instead of {mistake}") from None
        else:
            raise AssertionError(f"{rules}, {moves}: no mistake found")
    # A suicide of two stones under rules that allow it.
    played = ["A2", "A1", "B2", "pass", "C1", "B1"]
    board, *_ = replay(RULES["tromp-taylor"], 5, 5, [], played)
    if count(board, 5, 5) != 25:
        raise AssertionError("the board after a suicide")
    try:
        replay(RULES["cgos"], 5, 5, [], played)
        raise AssertionError("a suicide of two stones was accepted")
    except IllegalMove:
        pass
    board, handicap, bonus, button = replay(RULES["aga-button"], 5, 5, [(2, 2), (1, 1)], ["C4", "pass", "pass", "pass"])
    if (count(board, 5, 5), handicap, bonus, button) != (1, 2, 1.0, 0.5):
        raise AssertionError("handicap and button")
