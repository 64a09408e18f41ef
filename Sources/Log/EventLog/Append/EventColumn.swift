internal import Telemetry

/// A column of the event views, derived from the catalogue's declaration of a member.
struct EventColumn {
    let name: String
    let comment: String
    /// SQL for the id or code, given a row `e` of the log, its batch `b`, `log.counted_device` d and
    /// `log.counted_context` c. `word_1` and `word_2` are the ids that these words count as.
    var opened: String
    var types = EventTypes.all
    /// Whether it describes the event itself, and not what happened.
    var isCommon = false
    /// SQL for the readable value, in a view of these types: `d` and `c` have names there, and `word_1` and `word_2`
    /// are words.
    var shown: @Sendable (EventTypes) -> String
}

extension EventColumn {
    /// Nil for an object.
    init?(of member: Member) {
        let declaration = member.declaration
        guard let name = declaration.column else { return nil }
        let shown = EventColumn.shown(declaration, name)
        self.init(
            name: name, comment: declaration.comment,
            opened: EventColumn.ofItsTypes(EventColumn.opened(declaration, name), declaration, in: .all),
            types: declaration.types,
            isCommon: declaration.types.isSuperset(of: EventTypes(where: \.isOfDelivery))
        ) { types in EventColumn.ofItsTypes(shown, declaration, in: types) }
    }

    /// Joins two members that share a column: the event's own value overrides its source's.
    func overridden(by own: EventColumn) -> EventColumn {
        var column = self
        column.opened = "coalesce(\(own.opened), \(opened))"
        column.types = types.union(own.types)
        column.shown = { [shown] types in
            types.intersection(own.types).isEmpty ? shown(types) : "coalesce(\(own.shown(types)), \(shown(types)))"
        }
        return column
    }

    /// A code is the position of its name in the list, from 1.
    static func name(of code: String, _ words: [String]) -> String {
        "('{\(words.joined(separator: ","))}'::text[])[\(code)]"
    }

    /// Bits and columns that other types use differently are read only for these types.
    private static func ofItsTypes(_ value: String, _ declaration: Declaration, in types: EventTypes) -> String {
        switch declaration.storage {
        case .own, .word, .amount: break
        case .none, .column, .key, .common, .device, .context, .rare: return value
        }
        if declaration.types.isSuperset(of: types) { return value }
        let codes = EventType.allCases.filter { declaration.types.contains($0) }.map { "\($0.rawValue)" }
        return "CASE WHEN e.codes >> 10 & 31 IN (\(codes.joined(separator: ", "))) THEN \(value) END"
    }

    private static func shown(_ declaration: Declaration, _ name: String) -> String {
        switch (declaration.storage, declaration.kind) {
        case (.device, .code(let words)):
            "coalesce(d.\(EventViews.quoted(name)), \(self.name(of: loose(.device, name), words)))"
        case (.device, _): "coalesce(d.\(name), \(word(loose(.device, name))))"
        case (.context, _): "coalesce(c.\(name), \(word(loose(.context, name))))"
        case (.word(let place), _): "word_\(place).value"
        case (.common(let bits), .type): self.name(of: field("e.codes", bits), EventType.allCases.map(\.wire))
        case (.common(let bits), .code(let words)): self.name(of: field("e.codes", bits), words)
        case (.own(let bits), .code(let words)): self.name(of: field("e.own", bits), words)
        case (.own(let bits), .codes(let words)): list(field("e.own", bits), words)
        default: opened(declaration, name)
        }
    }

    private static func opened(_ declaration: Declaration, _ name: String) -> String {
        switch declaration.storage {
        case .none: return "NULL"
        case .column(let column):
            guard case .integer = declaration.kind else { return "e.\(column)" }
            return "coalesce(e.\(column)::bigint, (e.rare ->> '\(name)')::bigint)"
        case .key(let column): return key(column)
        case .common(let bits): return value(field("e.codes", bits), declaration.kind)
        case .own(let bits): return value(field("e.own", bits), declaration.kind)
        case .device:
            guard case .word = declaration.kind else {
                return "nullif(coalesce(d.\(EventViews.quoted(name)), \(loose(.device, name))), 0)"
            }
            return "nullif(coalesce(d.\(name), \(counted(loose(.device, name)))), 0)"
        case .context: return "nullif(coalesce(c.\(name), \(counted(loose(.context, name)))), 0)"
        case .word(let place): return "coalesce(word_\(place).counts_as, e.word_\(place))"
        case .amount(let place):
            if case .decimal = declaration.kind {
                return "coalesce(e.amount_\(place)::bigint, (e.rare ->> '\(name)')::bigint) * 0.000001"
            }
            return "coalesce(e.amount_\(place)::bigint, (e.rare ->> '\(name)')::bigint)::\(type(of: declaration.kind))"
        case .rare:
            let text = "(e.rare ->> '\(name)')"
            return if case .text = declaration.kind { text } else { "\(text)::\(type(of: declaration.kind))" }
        }
    }

    /// The value of a device or context that did not fit into its dictionary: the event's row has its members as an
    /// array.
    private static func loose(_ dictionary: Combination.Dictionary, _ name: String) -> String {
        let place = Combination.columns(of: dictionary).firstIndex(of: name) ?? -1
        return "(e.rare -> '\(dictionary)' ->> \(place))::integer"
    }

    /// The id of the word that this word counts as.
    private static func counted(_ id: String) -> String {
        "CASE WHEN \(id) > 0 THEN coalesce((SELECT w.counts_as FROM log.word AS w WHERE w.id = \(id)), \(id)) END"
    }

    /// Looks up single words, and only if there is an id.
    private static func word(_ id: String) -> String {
        "CASE WHEN \(id) > 0 THEN (SELECT w.value FROM log.word AS w WHERE w.id = \(id)) END"
    }

    /// The id that became the key is stored only as the key.
    private static func key(_ column: String) -> String {
        let source = "(e.codes >> 17 & 3)"
        return switch column {
        case "fcm_message_id":
            """
            CASE WHEN \(source) = 1 THEN coalesce(
                '0:' || e.notification_key || '%' || encode(e.fcm_suffix, 'hex'), e.rare ->> 'fcm_message_id', e.notification_key) END
            """
        case "delivery_id": "CASE WHEN \(source) = 2 THEN e.notification_key ELSE e.delivery_id END"
        default: "CASE WHEN \(source) = 3 THEN e.notification_key ELSE e.\(column) END"
        }
    }

    private static func field(_ column: String, _ bits: Declaration.Bits) -> String {
        "\(column) >> \(bits.first) & \((1 << bits.count) - 1)"
    }

    private static func value(_ field: String, _ kind: Declaration.Kind) -> String {
        switch kind {
        case .boolean: "CASE \(field) WHEN 1 THEN false WHEN 2 THEN true END"
        case .integer(let range): "(nullif(\(field), 0) + \(range.lowerBound - 1))::\(type(of: kind))"
        case .letters(let count):
            "CASE WHEN \(field) > 0 THEN "
                + (0..<count).map { "chr(64 + (\(field) >> \(5 * $0) & 31))" }.joined(separator: " || ") + " END"
        case .codes: "CASE WHEN \(field) & 1 = 1 THEN ((\(field)) >> 1)::smallint END"
        default: "nullif(\(field), 0)::smallint"
        }
    }

    /// The first bit says whether there is a list at all.
    private static func list(_ field: String, _ words: [String]) -> String {
        let each = words.enumerated().map { "CASE WHEN \(field) & \(2 << $0) <> 0 THEN '\($1)' END" }
        return "CASE WHEN \(field) & 1 = 1 THEN array_remove(ARRAY[\(each.joined(separator: ", "))], NULL) END"
    }

    private static func type(of kind: Declaration.Kind) -> String {
        switch kind {
        case .integer(let range) where range.upperBound <= Int16.max: "smallint"
        case .integer(let range) where range.upperBound <= Int32.max: "integer"
        case .number: "double precision"
        default: "bigint"
        }
    }
}
