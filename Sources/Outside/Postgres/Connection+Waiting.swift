internal import CLibPQ
internal import Glibc
internal import ServiceRuntime

extension Connection {
    /// Sends everything that is queued.
    mutating func flush() throws(PostgresError) {
        while true {
            switch unsafe PQflush(handle) {
            case 0: return
            case 1: try waitForSocket(POLLIN | POLLOUT)
            default: throw broken()
            }
            // The server may be blocked while writing to us: read, or both wait for ever.
            guard unsafe PQconsumeInput(handle) == 1 else { throw broken() }
        }
    }

    /// The next result of what was sent; nil if there is none left.
    mutating func nextResult() throws(PostgresError) -> OpaquePointer? {
        while unsafe PQisBusy(handle) == 1 {
            try waitForSocket(POLLIN)
            guard unsafe PQconsumeInput(handle) == 1 else { throw broken() }
        }
        return unsafe PQgetResult(handle)
    }

    /// Sleeps until the socket is ready, or the deadline passes.
    mutating func waitForSocket(_ events: Int32) throws(PostgresError) {
        while true {
            // Checked before every wait: with a server that never stops sending, the wait itself would never time out.
            if deadline.hasPassed {
                close()
                throw .timedOut
            }
            var poll = unsafe pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
            guard poll.fd >= 0 else { throw broken() }
            let ready = unsafe Glibc.poll(&poll, 1, deadline.pollTimeout)
            if ready > 0 { return }
            if ready < 0, errno != EINTR { throw broken() }
        }
    }

    /// Closes the connection and returns why.
    mutating func broken() -> PostgresError {
        let reason = unsafe Connection.message(of: handle)
        close()
        return .connection(reason.isEmpty ? "the connection was lost" : reason)
    }

    /// The error to throw: if the failure broke the connection, the connection's error.
    mutating func outcome(of failure: PostgresError) -> PostgresError {
        guard unsafe PQstatus(handle) == CONNECTION_BAD else { return failure }
        close()
        guard case .server(let message) = failure else { return failure }
        return .connection(message.message)
    }

    /// Gives the connection up at once, without telling the server, which may not be listening.
    mutating func close() {
        isUsable = false
        let socket = unsafe PQsocket(handle)
        if socket >= 0 { shutdown(socket, Int32(SHUT_RDWR)) }
    }
}
