/// The connections that wait for their turn, in order of arrival in each lane.
struct Turns {
    private var lines = [Line](repeating: Line(), count: Lane.asking.rawValue + 1)

    func isEmpty(_ lane: Lane) -> Bool { lines[lane.rawValue].isEmpty }

    mutating func append(_ connection: Connection, to lane: Lane) { lines[lane.rawValue].append(connection) }

    /// Those whose turn it is in this round. They have left the line.
    mutating func take(_ lane: Lane) -> [Connection] { lines[lane.rawValue].take(atMost: lane.turnsInARound) }
}

private struct Line {
    private var connections: [Connection] = []
    /// How many at the front have left. They are removed together, since removing some moves all others.
    private var left = 0

    var isEmpty: Bool { connections.isEmpty }

    mutating func append(_ connection: Connection) { connections.append(connection) }

    mutating func take(atMost most: Int) -> [Connection] {
        guard connections.count - left > most else {
            defer { (connections, left) = ([], 0) }
            return left == 0 ? connections : Array(connections[left...])
        }
        let round = Array(connections[left..<(left + most)])
        left += most
        if left > connections.count / 2 {
            connections.removeFirst(left)
            left = 0
        }
        return round
    }
}
