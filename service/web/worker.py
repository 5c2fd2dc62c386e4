"""Gunicorn's worker, but for two things: what it cannot read it answers with a problem, and it waits for nobody for ever."""

from __future__ import annotations

import socket
import struct
from typing import Any, ClassVar, Final

from gunicorn.util import write_nonblock
from gunicorn.workers.gthread import TConn, ThreadWorker

from policies.errors import NnfleetError

SILENCE_S: Final = 10
"""A client that is silent for so long within a request, in its head or its body, is given up: it holds a thread."""
_TIMEVAL: Final = struct.pack("ll", SILENCE_S, 0)


class SilentClient(NnfleetError):
    """The client began a request, and sent nothing more of it for `SILENCE_S`."""

    code: ClassVar[str] = "request-timeout"


class PatientSocket(socket.socket):
    """A connection whose reads end: gunicorn's own are endless. What is sent may take as long as it takes."""

    @classmethod
    def of(cls, connection: socket.socket) -> PatientSocket:
        """The connection, taken over."""
        family, kind, protocol = connection.family, connection.type, connection.proto
        patient = cls(family, kind, protocol, fileno=connection.detach())
        patient.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _TIMEVAL)
        return patient

    def recv(self, bufsize: int, flags: int = 0, /) -> bytes:
        """Raises SilentClient where nothing comes."""
        try:
            return super().recv(bufsize, flags)
        except BlockingIOError as error:
            if self.gettimeout() is not None:  # it was not to wait at all
                raise
            raise SilentClient(f"nothing came for {SILENCE_S} s", limit=SILENCE_S) from error


class Worker(ThreadWorker):  # type: ignore[misc]
    """Threads that serve `service.wsgi`."""

    def handle(self, conn: TConn) -> Any:
        """Serve what comes next on a connection."""
        if not isinstance(conn.sock, PatientSocket):
            conn.sock = PatientSocket.of(conn.sock)
        return super().handle(conn)

    def handle_error(self, req: object, client: socket.socket, addr: object, exc: Exception) -> None:  # noqa: ARG002 -- gunicorn's names
        """Answer what reached no application, or left it: gunicorn itself would write HTML, and addresses into the log."""
        from service.web.problems import answer_to  # here: the process that starts workers needs no application

        answer = answer_to(exc)
        head = f"HTTP/1.1 {answer.status}\r\nConnection: close\r\nContent-Type: {answer.content_type}\r\n"
        body = answer.get_data()
        try:
            write_nonblock(client, f"{head}Content-Length: {len(body)}\r\n\r\n".encode("ascii") + body)
        except OSError:
            self.log.debug("the client is gone")
