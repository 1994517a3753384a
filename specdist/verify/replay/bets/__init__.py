"""Bets against statements of the declared engine, one statement a module.

Each bettor's distribution is fixed before what it bets on is drawn: it reads rows, tokens and
numbers that come before, never after. So every product of its quotients has mean at most 1 under
the statement, and so has their mixture with prior weights that are fixed in advance. The families
of bettors are mixtures of what an engine may plausibly do instead: the declared law tempered or
flattened, the law of the other side, of the row before, of the recipes of the known faults.
"""
