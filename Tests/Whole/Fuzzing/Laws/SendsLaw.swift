import JSON
package import Sends
import Telemetry
import Values

/// What holds for everything that anybody may tell of what was sent.
package enum SendsLaw {
    /// Each law that a body broke, in words.
    package static func broken(by body: [UInt8], in decoder: SendsDecoder = SendsDecoder()) -> [String] {
        var broken: [String] = []
        do throws(SendsFault) {
            for item in try decoder.decode(envelope: body) { broken += faults(of: item, decoder) }
        } catch {
            broken += faults(of: error)
        }
        do throws(SendsFault) {
            let item = try decoder.decode(line: body)
            broken += faults(of: item, decoder)
            if !isSame(item, inEnvelope: body, decoder) {
                broken.append("a send that stands alone is another than in an envelope")
            }
        } catch {
            broken += faults(of: error)
        }
        return broken
    }

    private static func faults(of fault: SendsFault) -> [String] {
        isTold(fault.description) ? [] : ["an error is endless or tells of a NUL"]
    }

    private static func isTold(_ sentence: String) -> Bool {
        sentence.utf8.count < 600 && !sentence.utf8.contains(0)
    }

    private static func isSame(_ item: SendsDecoder.Item, inEnvelope line: [UInt8], _ decoder: SendsDecoder) -> Bool {
        let envelope = Array(#"{"sends":["#.utf8) + line + Array("]}".utf8)
        guard let items = try? decoder.decode(envelope: envelope), items.count == 1 else { return false }
        switch (item, items[0]) {
        case (.success(let one), .success(let other)): return one == other
        case (.failure(let one), .failure(let other)):
            return one.id == other.id && one.rejection.reason == other.rejection.reason
        default: return false
        }
    }

    private static func faults(of item: SendsDecoder.Item, _ decoder: SendsDecoder) -> [String] {
        switch item {
        case .failure(let refused):
            let isNamed = refused.id.map(isHeld) ?? true
            return (isTold(refused.rejection.detail) ? [] : ["a detail is endless or holds a NUL"])
                + (isNamed ? [] : ["a refused send has an id that none may have"])
        case .success(let send): return faults(of: send) + faults(ofPayloadIn: send, decoder)
        }
    }

    /// What is stored is only what PostgreSQL can hold.
    private static func faults(of send: Send) -> [String] {
        var broken: [String] = []
        let names = [send.campaign, send.variant, send.category, send.thread, send.topic, send.analyticsLabel]
        let ids = send.messageIDs ?? []
        if !(names.compactMap(\.self) + [send.id] + ids.flatMap { [$0.key, $0.raw] }).allSatisfy(isHeld) {
            broken.append("a name cannot be held")
        }
        if let id = UUID(utf8: Array(send.id.utf8)), id.description != send.id {
            broken.append("an id is a UUID in another spelling")
        }
        if ids.count > SendBounds.messageIDs || Set(ids.map { Array($0.key.utf8) }).count != ids.count {
            broken.append("a message is counted twice, or there are too many")
        }
        if let time = send.sentAt, !Timestamp.plausible.contains(time) {
            broken.append("a time lies outside the years")
        }
        if let count = send.recipients, !SendBounds.recipients.contains(count) {
            broken.append("it was sent to less than nobody, or to too many")
        }
        return broken + faults(of: send.story?.pages ?? [])
    }

    private static func faults(of pages: [StoryPage]) -> [String] {
        var broken: [String] = []
        if pages.map(\.declaredIndex) != pages.indices.map({ Int16($0) }) || pages.count > 1000 {
            broken.append("declared pages are not numbered from 0 on")
        }
        let shown = pages.compactMap(\.pageIndex)
        if shown != shown.indices.map({ Int16($0) }) { broken.append("shown pages are not numbered from 0 on") }
        for page in pages {
            if !(0...30_000).contains(page.milliseconds) {
                broken.append("a page stands for no time that a player knows")
            }
            if (page.pageIndex == nil) != (page.fault == .noImage) {
                broken.append("a page without an image is shown, or one with an image is not")
            }
            let texts = [page.title, page.subtitle, page.buttonTitle, page.link, page.image].compactMap(\.self)
            if texts.contains(where: { $0.isEmpty || $0.utf8.contains(0) }) {
                broken.append("a page's text cannot be held")
            }
        }
        return broken
    }

    private static func faults(ofPayloadIn send: Send, _ decoder: SendsDecoder) -> [String] {
        guard let payload = send.payload else { return send.story == nil ? [] : ["a story comes from nowhere"] }
        guard payload.count <= SendBounds.payload else { return ["a payload is kept that is over its bound"] }
        let isFit = JSONParser(maximumBytes: 1 << 20).withDocument(payload.span) { root in
            root.isObject && !root.holdsNUL && !namesSecrets(root)
        }
        guard (try? isFit.get()) == true else {
            return ["a payload is kept that is not fit for jsonb, or tells secrets"]
        }
        let again = Array(#"{"id":"again","payload":"#.utf8) + payload + Array("}".utf8)
        guard let kept = try? decoder.decode(line: again).get() else { return ["what is kept cannot be told again"] }
        return kept.payload == payload && kept.story == send.story
            ? [] : ["what is kept says something else when told again"]
    }

    private static func namesSecrets(_ value: JSONValue) -> Bool {
        value.members.contains { key, value in
            PayloadSecrets.members.contains { key.spells($0) } || namesSecrets(value)
        } || value.elements.contains(where: namesSecrets)
    }

    /// Whether it is a name as SQL and an index can hold it.
    private static func isHeld(_ name: String) -> Bool {
        (1...256).contains(name.utf8.count) && !name.utf8.contains(0)
    }
}
