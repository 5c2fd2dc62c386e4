"""Commands that come in groups: `key`, `user`, `audit`, `policy`, `report`. Names and options only, as in `service.cli.app`."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from policies.errors import NnfleetError
from policies.revision import Kind
from service.cli.options import DataFolder, Json
from service.identity.access import Scope
from service.simulating.limits import BUDGET_S, MOST_BUDGET_S


class RoleName(StrEnum):
    """A role, as the command line names it."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    APPROVER = "approver"
    ADMIN = "admin"


keys = typer.Typer(no_args_is_help=True, help="API keys of programs: make, list, revoke.")
users = typer.Typer(no_args_is_help=True, help="People who sign in to the console.")
policy = typer.Typer(no_args_is_help=True, help="Policies as files: check, simulate, pull, diff, push.")
audit = typer.Typer(no_args_is_help=True, help="The audit log: whether its chain holds.")
report = typer.Typer(no_args_is_help=True, help="Reports for people: the device matrix.")


@keys.command("create")
def create_key(
    name: Annotated[str, typer.Argument(help="What revisions and the audit log call its holder.")],
    scope: Annotated[list[Scope], typer.Option(help="What it opens; may be given several times.")],
    role: Annotated[RoleName | None, typer.Option(help="What it may do, with --scope manage.")] = None,
    app: Annotated[str | None, typer.Option(help="The only app it is for.")] = None,
    data: DataFolder = None,
) -> None:
    """Make a key and print its secret, once."""
    from service.cli.keys import create as run

    run(data, name, scope, role, app)


@keys.command("list")
def list_keys(data: DataFolder = None, as_json: Json = False) -> None:
    """Every key, without its secret."""
    from service.cli.keys import listed as run

    run(data, as_json)


@keys.command("revoke")
def revoke_key(name: Annotated[str, typer.Argument(help="The key's name.")], data: DataFolder = None) -> None:
    """Shut a key for good."""
    from service.cli.keys import revoke as run

    run(data, name)


Person = Annotated[str, typer.Argument(help="The name they sign in with; the audit log calls them so.")]


@users.command("create")
def create_user(
    name: Person,
    role: Annotated[RoleName, typer.Option(help="What they may do; each may what the ones before may.")],
    app: Annotated[
        list[str] | None, typer.Option(help="An app that they see and change; all where none is named.")
    ] = None,
    data: DataFolder = None,
) -> None:
    """Make an account. The password is asked for, or read from standard input."""
    from service.cli.users import create as run

    run(data, name, role, app or [])


@users.command("apps")
def set_apps(
    name: Person,
    app: Annotated[
        list[str] | None, typer.Option(help="An app that they see and change; may be given several times.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All apps, those to come too.")] = False,
    data: DataFolder = None,
) -> None:
    """Bind somebody to apps, or to none; from their next request on."""
    from service.cli.users import set_apps as run

    if every == bool(app):
        raise typer.BadParameter("either --app, once or several times, or --all")
    run(data, name, app or [])


@users.command("list")
def list_users(data: DataFolder = None, as_json: Json = False) -> None:
    """Everybody, and how many sessions they have."""
    from service.cli.users import listed as run

    run(data, as_json)


@users.command("disable")
def disable_user(name: Person, data: DataFolder = None) -> None:
    """Shut somebody out, at once."""
    from service.cli.users import disable as run

    run(data, name)


@users.command("passwd")
def set_password(name: Person, data: DataFolder = None) -> None:
    """Give somebody another password; their sessions end."""
    from service.cli.users import set_password as run

    run(data, name)


@audit.command("verify")
def verify_audit(
    head: Annotated[str | None, typer.Option(help="A head noted earlier; it has to stand in the log.")] = None,
    data: DataFolder = None,
    as_json: Json = False,
) -> None:
    """Walk the hash chain; name the first row that does not hold."""
    from service.cli.audit import verify as run

    raise typer.Exit(0 if run(data, head, as_json) else 1)


PolicyFile = Annotated[Path, typer.Argument(help="A policy, .yaml or .json.", exists=True, dir_okay=False)]


@policy.command("check")
def check_policy(file: PolicyFile) -> None:
    """Whether a policy would be taken; what is wrong is told with its line and column."""
    from service.cli.policy import check as run

    run(file)


Server = Annotated[str, typer.Option(help="Address of the service; the key is NNFLEET_MANAGE_TOKEN.")]
Folder = Annotated[Path, typer.Argument(help="Folder of policies, one file an app.", file_okay=False)]
Filled = Annotated[Path, typer.Argument(help="Folder of policies, one file an app.", file_okay=False, exists=True)]
LOCAL = "http://127.0.0.1:8080"


@policy.command("pull")
def pull_policies(folder: Folder, server: Server = LOCAL) -> None:
    """Write the policies that stand on the server into a folder; the same policy gives the same bytes."""
    from service.cli.policy_sync import pull as run

    end(lambda: run(server, folder))


@policy.command("diff")
def diff_policies(folder: Filled, server: Server = LOCAL) -> None:
    """What a push would change; ends with 1 where that is anything."""
    from service.cli.policy_sync import diff as run

    end(lambda: run(server, folder))


@policy.command("push")
def push_policies(
    folder: Filled,
    note: Annotated[str, typer.Option(help="Why, for the reviewer.")],
    server: Server = LOCAL,
) -> None:
    """Put what differs up for review, as an edit of the revision it was pulled from."""
    from service.cli.policy_sync import push as run

    end(lambda: run(server, folder, note))


@policy.command("lint")
def lint_policies(folder: Filled) -> None:
    """Check all policies of a folder, without a server; what is wrong is told with its line and column."""
    from service.cli.policy_sync import lint as run

    end(lambda: run(folder))


@policy.command("simulate")
def simulate_policy(
    file: Annotated[
        Path, typer.Argument(help="A policy, .yaml or .json; or JSON of --kind.", exists=True, dir_okay=False)
    ],
    kind: Annotated[Kind, typer.Option(help="What the file states: policy, model or quarantine.")] = Kind.POLICY,
    budget_s: Annotated[
        float, typer.Option(min=0.1, max=MOST_BUDGET_S, help="Seconds it may take; over them a sample is told.")
    ] = BUDGET_S,
    server: Server = LOCAL,
    as_json: Json = False,
) -> None:
    """Who would change from what to what, on all stored reports, before anything is saved."""
    from service.cli.policy_simulate import simulate as run

    end(lambda: run(server, file, kind, budget_s, as_json))


def end(run: Callable[[], bool]) -> None:
    """End with 0 where it is well, 1 where it is not; a refusal is told in a line."""
    from service.cli.remote import Refused

    try:
        well = run()
    except (NnfleetError, Refused) as error:
        raise typer.BadParameter(error.detail) from error
    raise typer.Exit(0 if well else 1)


@policy.command("import-gpu-allowlist")
def import_gpu_allowlist(
    file: Annotated[Path, typer.Argument(help="LiteRT's GPU list as CSV.", exists=True, dir_okay=False)],
    app: Annotated[str, typer.Option(help="The app that the policy is for.")],
    into: Annotated[
        Path | None, typer.Option(help="A policy to add the denies to.", exists=True, dir_okay=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Print a policy with denies of the GPU where the list calls it unsupported; later entries override."""
    from service.cli.policy import import_gpu_allowlist as run

    run(file, app, into, as_json)


@report.callback()
def reports() -> None:
    """Reports as files."""


@report.command("matrix")
def report_matrix(
    out: Annotated[Path, typer.Option(help="Folder to write index.html and the CSV files into.")] = Path("report"),
    device: Annotated[list[str] | None, typer.Option(help="A device class; may be given several times.")] = None,
    data: DataFolder = None,
) -> None:
    """What the ten busiest devices, or those named, support, how fast and how right their arms are."""
    from service.cli.matrix.command import report_matrix as run

    run(out, device or [], data)
