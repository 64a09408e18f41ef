internal import Accounts
internal import Console
internal import Postgres
internal import Registry
internal import ServiceRuntime

/// Shows what an app has registered.
struct CategoriesListCommand: Command {
    static let words = ["categories", "list"]
    static let summary = "Show an app's categories and buttons, with each button's verdict"
    static let options = [
        CategoriesImportCommand.appOption, Option.format,
    ]

    private let arguments: Arguments
    private let slug: String
    private let format: OutputFormat

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        slug = try CategoriesImportCommand.slug(arguments)
        format = try arguments.choice("format", default: .text)
    }

    func run() throws -> ExitCode {
        let categories = try DatabaseAccess.withConnection(arguments) { connection in
            try ListedCategory.list(of: try Apps.named(slug, on: &connection), on: &connection)
        }
        switch format {
        case .text:
            guard !categories.isEmpty else {
                StandardStream.error.write(
                    "'\(slug)' has no registered categories. To register some: bellwether categories import --app \(slug) FILE\n"
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
