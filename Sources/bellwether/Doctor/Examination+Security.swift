internal import Accounts
internal import EventLog

extension Examination {
    static let security = Examination(name: "security", readsOurs: false) { _, connection in
        let open = try Hardening.look(on: &connection).filter { !$0.open.isEmpty }
        guard let first = open.first else { return .ok("readers cannot hold up or use up the service") }
        return .warn(
            "open: \(open.map(\.hardening.name).joined(separator: ", ")); for one, \(first.hardening.danger)",
            do: "bellwether status --security prints the statements that close it")
    }
}
