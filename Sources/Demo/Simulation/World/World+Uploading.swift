internal import Telemetry
internal import Values

extension World {
    /// The most events in one envelope.
    private static let mostEvents = 100

    /// Plans an upload soon. An upload that is already planned also takes events that are ready by then.
    mutating func planUpload(from phone: Int, within seconds: ClosedRange<Double>) {
        guard !phones[phone].isUploadPlanned else { return }
        phones[phone].isUploadPlanned = true
        let time = now.after(seconds: dice.between(seconds.lowerBound, seconds.upperBound))
        agenda.enter(.upload(phone: phone), at: max(time, phones[phone].offlineUntil.after(seconds: 3)))
    }

    /// Sends everything that a phone has recorded, in as many envelopes as necessary.
    mutating func upload(from phone: Int) {
        phones[phone].isUploadPlanned = false
        // The network may be gone by now.
        guard phones[phone].offlineUntil <= now else { return planUpload(from: phone, within: 1...60) }
        var ready = phones[phone].pending.filter { $0.at <= now }
        phones[phone].pending.removeAll { $0.at <= now }
        // Events that are still going on are sent when they are over.
        if let last = phones[phone].pending.last { planUpload(from: phone, within: until(last.at)) }
        guard !ready.isEmpty else { return }
        // The app and its extension may both send the same events.
        if dice.chance(0.004) { ready.append(contentsOf: phones[phone].lastSent) }
        var dropped = dice.chance(0.0006) ? drop() : nil
        while !ready.isEmpty {
            let records = Array(ready.prefix(World.mostEvents))
            ready.removeFirst(records.count)
            send(records, from: phone, dropped: dropped)
            dropped = nil
        }
    }

    private mutating func send(_ records: [Record], from phone: Int, dropped: String?) {
        outbox.append(Envelope(records, from: phones[phone], at: now, dropped: dropped))
        let told = records.map { record in
            var told = record
            told.isRepeated = true
            return told
        }
        phones[phone].lastSent = told.suffix(3)
        // The answer was lost, so everything is sent again.
        if dice.chance(0.012) {
            let pause = min(3600, dice.lognormal(median: 40, spread: 1))
            agenda.enter(.repetition(phone: phone, told), at: now.after(seconds: pause))
        }
    }

    private func until(_ time: Timestamp) -> ClosedRange<Double> {
        let seconds = Double(time - now) / 1e6
        return (seconds + 1)...(seconds + 5)
    }

    /// The client's report of events that it dropped before it could send them.
    private mutating func drop() -> String {
        let since = now.after(seconds: -dice.between(1, 20) * 86_400)
        let reason: ClientDrop.Reason = dice.chance(0.7) ? .age : dice.chance(0.7) ? .size : .unreadable
        var entry = ObjectText()
        entry.add("id", UUID(time: now, &dice).description)
        entry.add("count", dice.number(in: 1...40))
        entry.add("since", since.wire)
        entry.add("reason", reason)
        return entry.text
    }
}
