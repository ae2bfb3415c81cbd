"""The hunt for wrong results: makers of programs, run by ranges of seeds for as long as one likes.

    python -m tests.hunt --seconds 3600             all makers and targets by turns, where it ended
    python -m tests.hunt --only chains --targets host,avx2
    python -m tests.hunt --only imperative --seed 17  one program again, cut down if it differs
    python -m tests.hunt --counts                   what the ledger says

A *case* is one value that a program computes and that is compared, element by element, with what
the oracle of its maker gives; a value counts once, and inputs do not. The ledger is a file of JSON
lines, one for each range of seeds; it says where the next range begins. docs/correctness.md has the
counts and what is left out.
"""
