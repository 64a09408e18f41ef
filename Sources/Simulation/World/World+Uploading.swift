internal import Telemetry
internal import Values

extension World {
    /// Events of one envelope at the most.
    private static let mostEvents = 100

    /// Something is to be sent soon; an upload that is planned already takes it along if it is ready by then.
    mutating func planUpload(from phone: Int, within seconds: ClosedRange<Double>) {
        guard !phones[phone].isUploadPlanned else { return }
        phones[phone].isUploadPlanned = true
        let time = now.after(seconds: dice.between(seconds.lowerBound, seconds.upperBound))
        agenda.enter(.upload(phone: phone), at: max(time, phones[phone].offlineUntil.after(seconds: 3)))
    }

    /// What a phone has written down leaves it, in as many envelopes as it takes.
    mutating func upload(from phone: Int) {
        phones[phone].isUploadPlanned = false
        // A network may have gone meanwhile.
        guard phones[phone].offlineUntil <= now else { return planUpload(from: phone, within: 1...60) }
        var ready = phones[phone].pending.filter { $0.at <= now }
        phones[phone].pending.removeAll { $0.at <= now }
        // What is still happening is sent when it is over.
        if let last = phones[phone].pending.last { planUpload(from: phone, within: until(last.at)) }
        guard !ready.isEmpty else { return }
        // The app and its extension may both send the same.
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
        // The answer got lost, so all of it is sent again.
        if dice.chance(0.012) {
            let pause = min(3600, dice.lognormal(median: 40, spread: 1))
            agenda.enter(.repetition(phone: phone, told), at: now.after(seconds: pause))
        }
    }

    private func until(_ time: Timestamp) -> ClosedRange<Double> {
        let seconds = Double(time - now) / 1e6
        return (seconds + 1)...(seconds + 5)
    }

    /// What the client says that it threw away before it could send it.
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
