"""The rules of Go once more, for `scripts/soak`: written from the Tromp-Taylor rules alone, plainly, and slow. Nothing here is
shared with the program that is judged; that is what it is for.

A board is a list of rows of columns of '.', 'b' and 'w'. Positions are remembered as text, so that nothing depends on hashes.
"""

from __future__ import annotations

from dataclasses import dataclass

LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"


class Wrong(Exception):
    """A move that the rules forbid."""


@dataclass(frozen=True)
class Rule:
    ko: str = "positional"
    suicide: bool = False
    territory: bool = False
    # What is taken from the score: nothing, points in seki, or also two for each group.
    tax: str = "none"
    # Points for White at a handicap of N: none, N or N-1.
    bonus: str = "0"
    button: bool = False
    # Are dead stones never removed?
    all_alive: bool = False


RULES = {
    "chinese-kgs": Rule(bonus="N"),
    "tromp-taylor": Rule(suicide=True, all_alive=True),
    "cgos": Rule(all_alive=True),
    "chinese": Rule(ko="simple", bonus="N"),
    "japanese": Rule(ko="simple", territory=True, tax="seki"),
    "korean": Rule(ko="simple", territory=True, tax="seki"),
    "aga": Rule(ko="situational", bonus="N-1"),
    "aga-button": Rule(ko="situational", bonus="N-1", button=True),
    "new-zealand": Rule(ko="situational", suicide=True),
    "ing": Rule(suicide=True),
    "stone-scoring": Rule(ko="simple", tax="all"),
    "ancient-territory": Rule(ko="simple", territory=True, tax="all"),
}


def neighbours(columns: int, rows: int, column: int, row: int) -> list[tuple[int, int]]:
    around = [(column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)]
    return [(c, r) for c, r in around if 0 <= c < columns and 0 <= r < rows]


def reach(board: list[list[str]], column: int, row: int) -> tuple[set[tuple[int, int]], set[str]]:
    """The points of one content that are connected with this one, and what touches them."""
    columns, rows = len(board[0]), len(board)
    content = board[row][column]
    seen, touched, todo = {(column, row)}, set(), [(column, row)]
    while todo:
        for c, r in neighbours(columns, rows, *todo.pop()):
            if board[r][c] != content:
                touched.add(board[r][c])
            elif (c, r) not in seen:
                seen.add((c, r))
                todo.append((c, r))
    return seen, touched


def clear(board: list[list[str]], points: set[tuple[int, int]]) -> None:
    for column, row in points:
        board[row][column] = "."


def replay(
    rule: Rule, columns: int, rows: int, stones: list[tuple[int, int]], moves: list[str]
) -> tuple[list[list[str]], int, float, float]:
    """The board at the end, the number of handicap stones, White's points for them, and Black's for the button. Raises
    `Wrong` for a move that is not legal. Colours alternate; White begins if there are stones."""
    board = [["."] * columns for _ in range(rows)]
    for column, row in stones:
        board[row][column] = "b"
    color, other = ("w", "b") if stones else ("b", "w")
    text = lambda: "".join("".join(line) for line in board)  # noqa: E731
    # After the move: the stones, and who is to move under situational superko.
    situation = lambda to_move: text() + (to_move if rule.ko == "situational" else "")  # noqa: E731
    past = {situation(color)}
    ko = None
    button = 0.0
    first_plays = {"b": 0, "w": 0}
    for index, move in enumerate(moves):
        where = f"move {index + 1}, {color} {move}"
        if move.lower() == "pass":
            ko = None
            if rule.button and button == 0.0:
                button = 0.5 if color == "b" else -0.5
        else:
            if first_plays["w"] == 0 or color == "w":
                first_plays[color] += 1
            column, row = LETTERS.index(move[0].upper()), int(move[1:]) - 1
            if not (column < columns and row < rows):
                raise Wrong(f"{where}: not on the board")
            if board[row][column] != ".":
                raise Wrong(f"{where}: not empty")
            if (column, row) == ko:
                raise Wrong(f"{where}: ko")
            board[row][column] = color
            captured: set[tuple[int, int]] = set()
            for c, r in neighbours(columns, rows, column, row):
                if board[r][c] == other:
                    points, touched = reach(board, c, r)
                    if "." not in touched:
                        clear(board, points)
                        captured |= points
            own, touched = reach(board, column, row)
            if "." not in touched:
                if not rule.suicide or len(own) == 1:
                    raise Wrong(f"{where}: suicide")
                clear(board, own)
            ko = None
            if rule.ko == "simple" and len(captured) == 1 and len(own) == 1:
                # The stone that was taken may take back, if it would take this one alone.
                liberties = [(c, r) for c, r in neighbours(columns, rows, column, row) if board[r][c] == "."]
                if len(liberties) == 1:
                    ko = next(iter(captured))
            if rule.ko != "simple" and situation(other) in past:
                raise Wrong(f"{where}: superko")
        past.add(situation(other))
        color, other = other, color
    handicap = len(stones) or (first_plays["b"] if first_plays["b"] >= 2 else 0)
    bonus = {"0": 0, "N": handicap, "N-1": max(handicap - 1, 0)}[rule.bonus]
    return board, handicap, float(bonus), button


def count(board: list[list[str]], columns: int, rows: int) -> int:
    """Black's points minus White's by area: stones, and empty points that reach one colour only."""
    score, seen = 0, set()
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
    """A judge that finds nothing may be a blind one: games with a mistake in the last move, and what is wrong with it."""
    for rules, moves, mistake in [
        ("cgos", "A1 A1", "not empty"),
        ("cgos", "A6", "not on the board"),
        ("cgos", "A2 E5 B1 A1", "suicide"),
        ("tromp-taylor", "A2 E5 B1 A1", "suicide"),
        # A ko in the corner: White takes at once.
        ("chinese", "B1 C1 A2 D2 B3 C3 D5 B2 C2 B2", "ko"),
        ("chinese-kgs", "B1 C1 A2 D2 B3 C3 D5 B2 C2 B2", "superko"),
        # Black passes, and White takes back what was taken: the position is an old one, with another player to move.
        ("aga", "B1 C1 A2 D2 B3 C3 D5 B2 C2 B2", "superko"),
    ]:
        try:
            replay(RULES[rules], 5, 5, [], moves.split())
        except Wrong as wrong:
            if not str(wrong).endswith(mistake):
                raise AssertionError(f"{moves}: {wrong}, and not {mistake}") from None
        else:
            raise AssertionError(f"{rules}, {moves}: nothing is wrong")
    # Suicide of two stones where it is allowed, and what is left of it.
    moves = "A2 A1 B2 pass C1 B1".split()
    board, *_ = replay(RULES["tromp-taylor"], 5, 5, [], moves)
    if count(board, 5, 5) != 25:
        raise AssertionError("what is left after a suicide")
    try:
        replay(RULES["cgos"], 5, 5, [], moves)
        raise AssertionError("a suicide of two stones")
    except Wrong:
        pass
    board, handicap, bonus, button = replay(RULES["aga-button"], 5, 5, [(2, 2), (1, 1)], ["C4", "pass", "pass", "pass"])
    if (count(board, 5, 5), handicap, bonus, button) != (1, 2, 1.0, 0.5):
        raise AssertionError("handicap and button")
