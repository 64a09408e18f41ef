internal import Accounts
internal import Clusters
internal import Console
internal import Postgres
internal import Registry
internal import ServiceRuntime
internal import Values

/// Registers the categories of an app.
struct CategoriesImportCommand: DatabaseCommand {
    static let words = ["categories", "import"]
    static let operands: [Operand<Self>] = [Operand("FILE", \.file)]
    static let summary = "Register an app's notification categories from a document, or a preset"
    static let options: [Option<Self>] = [
        .app(\.slug),
        Option("preset", "NAME", \.preset, .word, help: "hive or pushwoosh-stories, instead of a file"),
        .format(\.format),
    ]

    var database = DatabaseChoice()
    private var slug = ""
    private var file: String?
    private var preset: Preset?
    private var format = OutputFormat.text

    func check() throws(UsageError) {
        guard (file == nil) != (preset == nil) else {
            throw UsageError("name what to import: a FILE ('-' is standard input) or --preset NAME")
        }
    }

    func run() throws -> ExitCode {
        // Report an invalid document before starting a database for it.
        let document = try preset?.document ?? read(file ?? "-")
        let shared = try DatabaseAccess.sharing(SharedTables.registry, database) { connection in
            try Registrar.register(document, of: try Apps.named(slug, on: &connection).id, on: &connection)
        }
        let registration = shared.result
        for warning in registration.warnings {
            StandardStream.error.write("warning: \(String(printable: warning.description))\n")
        }
        switch format {
        case .text: StandardStream.output.write(text(registration, document.set))
        case .json: StandardStream.output.write(registration.json + "\n")
        }
        return shared.exitCode()
    }

    private func read(_ path: String) throws -> CategoryDocument {
        let name = path == "-" ? "standard input" : "'\(String(printable: path))'"
        let bytes = try InputFile.read(path, most: RegistryLimits.document)
        guard let bytes else {
            throw Failure("\(name) has over \(RegistryLimits.document) bytes; nothing was imported")
        }
        do throws(RegistryDocumentError) { return try CategoryDocument(bytes) } catch {
            throw Failure("\(name): \(error)")
        }
    }

    private func text(_ registration: Registration, _ set: CategorySet) -> String {
        let holds =
            String(counting: registration.categories, "category", "categories") + ", "
            + String(counting: registration.buttons, "button", "buttons")
        if registration.isUnchanged {
            return
                "nothing changed: the set '\(set.rawValue)' of '\(slug)' is still edition \(registration.edition), "
                + "\(holds)\n"
        }
        return "Edition \(registration.edition) of '\(slug)', set '\(set.rawValue)': \(holds)\n"
            + "newly registered buttons: \(registration.registeredButtons), retired: \(registration.retiredButtons)\n"
    }
}

/// Shows what an app has registered.
struct CategoriesListCommand: DatabaseCommand {
    static let words = ["categories", "list"]
    static let summary = "Show an app's categories and buttons, with each button's verdict"
    static let options: [Option<Self>] = [.app(\.slug), .format(\.format)]

    var database = DatabaseChoice()
    private var slug = ""
    private var format = OutputFormat.text

    func run() throws -> ExitCode {
        let categories = try DatabaseAccess.withConnection(database) { connection in
            try ListedCategory.list(of: try Apps.named(slug, on: &connection), on: &connection)
        }
        switch format {
        case .text:
            guard !categories.isEmpty else {
                StandardStream.error.write(
                    "'\(slug)' has no registered categories. To register some: "
                        + "bellwether categories import --app \(slug) FILE\n"
                )
                return .done
            }
            var table = TextTable([
                "CATEGORY", "SET", "EDITION", "POS", "BUTTON", "TITLE", "ANSWER", "EXPOSURES", "TAPPED", "VERDICT",
            ])
            for category in categories {
                let named = [
                    category.id.isEmpty ? "(no category)" : category.id, category.set,
                    category.edition.map { "\($0)" } ?? "",
                ]
                if category.buttons.isEmpty {
                    table.add(named + ["", "", "", "", "", "", category.isRetired ? "retired" : ""])
                }
                for button in category.buttons {
                    table.add(
                        named + [
                            button.position.map { "\($0)" } ?? "", button.id, button.title ?? "", button.answer ?? "",
                            button.exposures.map { "\($0)" } ?? "", "\(button.tappedDeliveries)", button.verdict,
                        ])
                }
            }
            StandardStream.output.write(table.text)
        case .json:
            for category in categories { StandardStream.output.write(category.json + "\n") }
        }
        return .done
    }
}

/// Compares registered buttons with the buttons that people tap.
struct CategoriesCheckCommand: DatabaseCommand {
    static let words = ["categories", "check"]
    static let summary = "Compare registered categories and buttons with the taps"
    static let options: [Option<Self>] = [
        .app(\.slug),
        Option(
            "days", "N", \.days, .number(in: 1...10_000),
            help: "How far back to look at single taps, by the device's clock (default)"),
        .format(\.format),
    ]

    var database = DatabaseChoice()
    private var slug = ""
    private var days = 90
    private var format = OutputFormat.text

    func run() throws -> ExitCode {
        let since = Timestamp(microseconds: WallClock.now.microseconds - Int64(days) * 86_400_000_000)
        let check = try DatabaseAccess.withConnection(database) { connection in
            try RegistryCheck.run(of: try Apps.named(slug, on: &connection), since: since, on: &connection)
        }
        switch format {
        case .text: StandardStream.output.write(check.text)
        case .json: StandardStream.output.write(check.json + "\n")
        }
        return check.isClean ? .done : .failed
    }
}
