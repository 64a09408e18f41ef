/// A line of connections that wait for their turn on the I/O thread. Clients that have shown a valid key go first;
/// nobody's wait depends on how much those behind them ask.
enum Lane: Int {
    /// Clients that have shown a valid key: the handler asked for the body of their request.
    case admitted
    /// Clients that have not yet had the time to show one: their first head is still to be read.
    case newcomers
    /// TLS handshakes: a signature takes longer than any other step.
    case handshakes
    /// Clients whose first request needed no key, or had a wrong one, and that have asked little since.
    case visitors
    /// Clients that ask again and again for what needs no key, or with a wrong one, and what is read only to be
    /// dropped.
    case asking

    /// The most turns in a round. Those who were admitted all have one: what they may send is limited by their app's
    /// rate limit, if it has one.
    var turnsInARound: Int {
        switch self {
        case .admitted: .max
        case .newcomers: 32
        case .handshakes: 1
        case .visitors, .asking: 16
        }
    }

    /// The most steps of a connection in its turn. The handler's work ends a turn, so nobody has more than one request
    /// in it.
    var stepsInATurn: Int { self == .asking ? 4 : 16 }

    /// The most bytes of a head that are read at once. The rest waits in the kernel, and its client with it.
    var bytesOfAHead: Int { self == .admitted ? 64 << 10 : 4 << 10 }
}
