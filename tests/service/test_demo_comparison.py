"""Ways to explore: they spend the same budget elsewhere, or none, and stand beside each other round by round."""

from __future__ import annotations

import io

from rich.console import Console

from service.cli.demo.exploring import WAYS, print_comparison
from service.cli.demo.rounds import Use, figures


def test_each_round_shows_every_way_beside_the_others_and_what_it_came_to() -> None:
    uses = [Use(regret, 10.0, 33.3, explored=False, crashes=0) for regret in (1.0, 1.5)]
    played = {way.name: [figures(0, 1, uses), figures(1, 2, uses[:1])] for way in WAYS}
    text = io.StringIO()
    print_comparison(Console(file=text, width=160), played)
    assert text.getvalue().count("1.250 ×  50.0%") == text.getvalue().count("1.000 ×  100.0%") == len(WAYS)
    for way in WAYS:
        assert f"exploring {way.name}: 12.5% over the best arms" in text.getvalue()
