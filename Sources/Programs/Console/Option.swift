/// Everything about an option is said once, where its command declares it: its name, the property of the command that
/// its value goes to, how a text becomes that value, and what it is for. The initial value of the property is the
/// default.
///
///     private var lanes = 2
///
///     static let options: [Option<Self>] = [
///         Option("lanes", "N", \.lanes, .number(in: 1...16), help: "Steps at once (default)")
///     ]
///
/// Parsing, help, completion, the manual page, the value and the error for a wrong one follow from this. A command
/// finds its values in its own properties, of the right type, when it runs; it never asks for one by name. Options that
/// several commands share are those of a struct, which each command has as a property: see `within`.
package struct Option<Target: Readable>: Sendable {
    let words: OptionWords
    /// What to do if it is missing, as the beginning of a sentence that its usage completes; nil if it may be.
    private let required: String?
    /// Puts the values of the texts, of which there is at least one, where they belong.
    private let put: @Sendable ([String], inout Target) throws(UsageError) -> Void

    private init(
        words: OptionWords, required: String?,
        put: @escaping @Sendable ([String], inout Target) throws(UsageError) -> Void
    ) {
        (self.words, self.required, self.put) = (words, required, put)
    }

    /// A switch, which sets a property to true.
    package init(_ name: String, _ path: Property<Target, Bool>, help: String) {
        self.init(words: OptionWords(name: name, help: help), required: nil) { _, target in target[keyPath: path] = true
        }
    }

    /// An option with a value. In its help, `(default)` shows what the property has at first.
    package init<Value>(
        _ name: String, _ placeholder: String, environment: String? = nil,
        _ path: Property<Target, Value>, _ value: OptionValue<Value>, required: String? = nil, help: String
    ) {
        let words = OptionWords(
            name: name, value: placeholder, environment: environment, choices: value.choices,
            help: help.replacing("(default)", with: "(default \(Target()[keyPath: path]))")
                + (required == nil ? "" : "; required"))
        self.init(words: words, required: required) { texts, target throws(UsageError) in
            for text in texts { target[keyPath: path] = try value.read(text, words) }
        }
    }

    /// An option with a value for a property that is nil without it.
    package init<Value>(
        _ name: String, _ placeholder: String, environment: String? = nil,
        _ path: Property<Target, Value?>, _ value: OptionValue<Value>, required: String? = nil, help: String
    ) {
        self.init(name, placeholder, environment: environment, path, value.optional, required: required, help: help)
    }

    /// An option that may be repeated.
    package init<Value>(
        _ name: String, _ placeholder: String, each path: Property<Target, [Value]>,
        _ value: OptionValue<Value>, required: String? = nil, help: String
    ) {
        let words = OptionWords(
            name: name, value: placeholder, isRepeatable: true, choices: value.choices,
            help: help + (required == nil ? "" : "; required"))
        self.init(words: words, required: required) { texts, target throws(UsageError) in
            for text in texts { target[keyPath: path].append(try value.read(text, words)) }
        }
    }

    /// Reads what the command line gave of it.
    func read(_ texts: [String], into target: inout Target) throws(UsageError) {
        if !texts.isEmpty { try put(texts, &target) } else if let required { throw words.missing(required) }
    }

    /// This option for a command that keeps the option's target in a property.
    package func within<Outer>(_ path: Property<Outer, Target>) -> Option<Outer> {
        Option<Outer>(words: words, required: required) { [put] texts, outer throws(UsageError) in
            try put(texts, &outer[keyPath: path])
        }
    }

    /// This option for a command that passes its value on to another program.
    package func unread<Outer>() -> Option<Outer> { Option<Outer>(words: words, required: required) { _, _ in } }
}

extension Array {
    /// These options for a command that keeps their target in a property, between other options of the command.
    package func within<Outer, Inner>(
        _ path: Property<Outer, Inner>, after first: [Option<Outer>] = [], before last: [Option<Outer>] = []
    ) -> [Option<Outer>] where Element == Option<Inner> {
        first + map { $0.within(path) } + last
    }
}

/// A property that a value is written to.
package typealias Property<Root, Value> = any WritableKeyPath<Root, Value> & Sendable

/// What options can be read into: a command, or what several commands share.
package protocol Readable: SendableMetatype {
    /// Has the default of each option.
    init()
}

/// What people see of an option.
package struct OptionWords: Sendable {
    var name: String
    /// The placeholder for its value in help texts; nil for a switch.
    var value: String?
    /// The environment variable that can replace it.
    var environment: String?
    var isRepeatable = false
    /// Its possible values, if they can be listed.
    var choices: [String] = []
    var help: String

    /// As one writes it: `--lanes N`.
    var usage: String { "--\(name)" + (value.map { " \($0)" } ?? "") }

    fileprivate func missing(_ required: String) -> UsageError {
        UsageError(
            "\(required): \(usage)" + (environment.map { ", or \($0)" } ?? "")
                + (isRepeatable ? ", which may be repeated" : ""))
    }
}
