"""How far the visitor's own simulation is, while the page that asked for it waits for what it finds."""

from __future__ import annotations

from flask import render_template
from sqlmodel import Session

from service import clock
from service.context import services
from service.store import simulation_runs
from service.store.simulation_runs import share_done
from service.web.door import actor


def page() -> str:
    """The last that they asked for: a page that looks again, of which editors show a part."""
    with Session(services().engine) as session, session.begin():
        run = simulation_runs.newest_by(session, actor().name, clock.now())
        session.expunge_all()
    return render_template("console/own_simulation.html", run=run, share_done=share_done)
