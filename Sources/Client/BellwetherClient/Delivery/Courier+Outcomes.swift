internal import Foundation

extension Courier {
    /// Handles an answer that settles every event of the batch.
    func settle(_ batch: Batch, _ refused: [Results.Refused]) async throws {
        for result in refused {
            let event = batch.events.indices.contains(result.index) ? batch.events[result.index] : nil
            let why = [result.reason, result.detail].compactMap(\.self).joined(separator: ": ")
            diagnostics.post(
                Diagnostic(
                    .rejected, "The server does not take an event: \(why). It keeps it for you (rejected list).",
                    eventID: result.id ?? event.flatMap { Courier.id(of: $0.json) }))
        }
        let began = experience.withLock { $0.postedAt }
        try await disk { queue in
            try queue.settle(batch)
            try queue.succeed(at: began)
        }
        experience.withLock { known in
            known.successes += 1
            // Try larger envelopes again, but carefully: each refusal costs a request.
            guard known.successes >= 4, known.mostEvents < mostEvents else { return }
            known.mostEvents = min(mostEvents, known.mostEvents * 2)
            known.successes = 0
        }
    }

    /// Sends a refused envelope again in halves, until the single event that causes the refusal is found.
    func divide(
        _ batch: Batch, _ status: Int, _ detail: String, until deadline: TimeInterval
    ) async throws -> DeliveryResult? {
        if !batch.drops.isEmpty {
            experience.withLock { $0.leavesDropsOut = true }
            return nil
        }
        if batch.events.count > 1 {
            experience.withLock { known in
                known.mostEvents = (batch.events.count + 1) / 2
                known.successes = 0
            }
            return nil
        }
        // Before we blame an event: does the server take anything at all? It has no reason to refuse an empty envelope.
        var empty = batch
        empty.events = []
        let left = deadline - clock.uptime()
        guard left > 0 else { return .outOfTime }
        switch try await post(empty, within: left) {
        case nil: return .outOfTime
        case .settled: return try await blame(batch, status, detail, until: deadline)
        case .refused(let status, let detail):
            try await putOff("the server refuses every envelope with \(status)\(detail); look at its address", nil)
        case .keyRefused(let status): return pause(status)
        case .later(let reason, let retryAfter): try await putOff(reason, retryAfter)
        }
        return nil
    }

    /// Sends the event once more. The server takes an empty envelope now, but may have refused everything a moment ago.
    private func blame(
        _ batch: Batch, _ status: Int, _ detail: String, until deadline: TimeInterval
    ) async throws -> DeliveryResult? {
        // While others were asked, the person may have wished that nothing is sent.
        guard try await disk({ try $0.isWaiting(batch) }) else { return nil }
        let left = deadline - clock.uptime()
        guard left > 0 else { return .outOfTime }
        switch try await post(batch, within: left) {
        case nil: return .outOfTime
        case .settled(let refused): try await settle(batch, refused)
        case .refused(let status, let detail): try await setAside(batch, status, detail)
        case .keyRefused(let status): return pause(status)
        case .later(let reason, let retryAfter): try await putOff(reason, retryAfter)
        }
        return nil
    }

    private func setAside(_ batch: Batch, _ status: Int, _ detail: String) async throws {
        let began = experience.withLock { $0.postedAt }
        let isKept = try await disk { queue in
            let isKept = try queue.setAside(batch, status: status)
            try queue.succeed(at: began)
            return isKept
        }
        experience.withLock { known in
            known.mostEvents = mostEvents
            known.successes = 0
        }
        guard let isKept else { return }
        for event in batch.events {
            let place =
                isKept
                ? "It lies in \(queue.directory.setAside)"
                : "It could not be kept in \(queue.directory.setAside) and is dropped; look whether the disk is full"
            diagnostics.post(
                Diagnostic(
                    isKept ? .setAside : .dropped,
                    "The server refused an envelope with a single event: \(status)\(detail). \(place).",
                    eventID: Courier.id(of: event.json)))
        }
    }

    /// Sends nothing more with this key for some hours.
    func pause(_ status: Int) -> DeliveryResult {
        let until = clock.uptime() + Courier.pauseOfKey
        experience.withLock { $0.refusedKeyUntil = until }
        diagnostics.post(
            Diagnostic(
                .keyRefused,
                "The server answered \(status): it does not know the write key, or no longer. Events are kept; "
                    + "nothing is sent for six hours, unless the app starts anew.",
                count: 0))
        return .keyRefused
    }

    /// Postpones the next try, for all processes.
    func putOff(_ reason: String, _ retryAfter: TimeInterval?) async throws {
        let (backoff, now) = (backoff, clock.wall().milliseconds)
        let wait = try await disk { queue in
            queue.putBack()
            return try queue.change { pace in
                pace.failures = min(pace.failures + 1, Pace.mostFailures)
                pace.wait(backoff.delay(failures: pace.failures, retryAfter: retryAfter), from: now)
                return pace.remaining(at: now)
            }
        }
        diagnostics.post(
            Diagnostic(
                .deliveryFailed, "A delivery failed: \(reason). The next try is in \((wait + 999) / 1000) s.",
                count: 0))
    }

    /// The event's own id, if it can be read.
    static func id(of json: ArraySlice<UInt8>) -> String? {
        struct Event: Decodable { let id: String }
        return (try? JSONDecoder().decode(Event.self, from: Data(json)))?.id
    }
}

extension Queue {
    /// A request that began at this time had an answer: the network and the server work.
    fileprivate func succeed(at began: Int64) throws { try change { pace in pace.succeed(at: began) } }
}
