internal import Accounts
internal import Console
internal import Postgres
internal import Registry
internal import ServiceRuntime

/// Registers the categories of an app.
struct CategoriesImportCommand: Command {
    static let words = ["categories", "import"]
    static let operands = ["[FILE]"]
    static let summary = "Register an app's notification categories from a document, or a preset"
    static let options = [
        appOption,
        Option(
            "preset", "NAME", choices: Preset.allCases.map(\.rawValue),
            help: "hive or pushwoosh-stories, instead of a file"),
        Option.format,
    ]

    static let appOption = Option("app", "SLUG", help: "The app; required")

    private let arguments: Arguments
    private let slug: String
    private let preset: Preset?
    private let format: OutputFormat

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        slug = try Self.slug(arguments)
        preset =
            try arguments.text("preset").map { name in
                guard let preset = Preset(rawValue: name) else {
                    let known = Preset.allCases.map(\.rawValue).joined(separator: ", ")
                    throw UsageError("--preset takes one of \(known), not '\(String(printable: name))'")
                }
                return preset
            }
        guard arguments.operands.isEmpty != (preset == nil) else {
            throw UsageError("name what to import: a FILE ('-' is standard input) or --preset NAME")
        }
        format = try arguments.choice("format", default: .text)
    }

    static func slug(_ arguments: Arguments) throws -> String {
        guard let slug = arguments.text("app") else { throw UsageError("name the app: --app SLUG") }
        return slug
    }

    func run() throws -> ExitCode {
        // A document that is wrong is told of before any database is started for it.
        let document = try preset?.document ?? read(arguments.operands[0])
        let registration = try DatabaseAccess.withConnection(arguments) { connection in
            try Registrar.register(
                document, of: try Apps.named(slug, on: &connection).id, on: &connection)
        }
        for warning in registration.warnings {
            StandardStream.error.write("warning: \(String(printable: warning.description))\n")
        }
        switch format {
        case .text: StandardStream.output.write(text(registration, document.set))
        case .json: StandardStream.output.write(registration.json + "\n")
        }
        return .done
    }

    private func read(_ path: String) throws -> CategoryDocument {
        let name = path == "-" ? "standard input" : "'\(String(printable: path))'"
        let bytes = try InputFile.read(path, most: RegistryLimits.document)
        guard let bytes else {
            throw Failure("\(name) has over \(RegistryLimits.document) bytes; nothing was imported")
        }
        do throws(CategoryDocumentError) { return try CategoryDocument(bytes) } catch {
            throw Failure("\(name): \(error)")
        }
    }

    private func text(_ registration: Registration, _ set: CategorySet) -> String {
        let holds =
            "\(registration.categories) \(registration.categories == 1 ? "category" : "categories"), "
            + "\(registration.buttons) \(registration.buttons == 1 ? "button" : "buttons")"
        if registration.isUnchanged {
            return
                "nothing changed: the set '\(set.rawValue)' of '\(slug)' is still edition \(registration.edition), \(holds)\n"
        }
        return "Edition \(registration.edition) of '\(slug)', set '\(set.rawValue)': \(holds)\n"
            + "newly registered buttons: \(registration.registeredButtons), retired: \(registration.retiredButtons)\n"
    }
}
