internal import BellwetherVersion

/// What programs may ask of the pages, as OpenAPI 3.1. It follows from what an address can say (`PageState`) and from
/// the codes of errors (`Notice`), so it cannot lag behind them.
enum LookDescription {
    static let path = "/openapi.yaml"

    static let text: String = """
        openapi: 3.1.0
        info:
          title: Bellwether pages
          version: \(BellwetherVersion.number)
          summary: Read the tables of the pages as JSON.
          description: |
            Every table of a page of `bellwether look` is also JSON: the page's address with `table=NAME&format=json`.
            Without `table`, the answer lists the tables of the page. A table says what its columns mean, up to which
            position of the log it was counted, and which of its days no longer change. It is the SQL that the page
            shows, with up to \(Listing.mostInFile) rows.

            **Keys.** `Authorization: Bearer READER-KEY` (`bellwether look key add`). A key may be for some apps; other
            apps answer as if they were not there. As long as there is no key, pages are open to their own machine.

            **Asking again.** A table has an `ETag`. Send it as `If-None-Match`: 304 says that nothing has changed.

            Every error is a problem document (RFC 9457) with a stable `code`.
        servers:
          - url: /
            description: The server that this document came from.
        security:
          - readerKey: []
        tags:
          - name: tables
            description: The tables of the pages.
          - name: operations
            description: No key is needed.

        paths:
        \(PageState.Page.allCases.map(operation).joined(separator: "\n"))
          /healthz:
            get:
              tags: [operations]
              operationId: readHealth
              summary: Whether the process lives
              security: []
              responses:
                '200':
                  description: It does.
                  content: {text/plain: {schema: {type: string}}}
                '405': {$ref: '#/components/responses/MethodNotAllowed'}
          \(path):
            get:
              tags: [operations]
              operationId: readDescription
              summary: This document
              security: []
              responses:
                '200':
                  description: OpenAPI 3.1.
                  content: {application/yaml: {schema: {type: object}}}
                '405': {$ref: '#/components/responses/MethodNotAllowed'}

        components:
          securitySchemes:
            readerKey: {type: http, scheme: bearer}
          parameters:
        \(parameters)
          headers:
            RetryAfter: {description: After so many seconds., schema: {type: integer, minimum: 1}}
          responses:
        \(responses)
          schemas:
        \(schemas)
        """

    private static func path(of page: PageState.Page) -> String {
        switch page {
        case .overview: "/"
        case .app: "/app/{app}"
        default: "/app/{app}/\(page.rawValue)"
        }
    }

    private static func summary(of page: PageState.Page) -> String {
        switch page {
        case .overview: "All apps that the key reads"
        case .app: "One app: trends, what rose and fell, categories, versions"
        case .category: "Categories; of one, its funnel, buttons, versions and hours"
        case .story: "Stories; of one, how it ended and its pages"
        case .campaign: "Campaigns; of one, from sent to engaged, variants and send delay"
        case .goal: "Goals; of one, how soon it came, day by day, by category and campaign"
        case .versions: "Two versions of the app side by side"
        case .experiment: "Experiments; of one, its arms, and the interval night by night"
        case .installs: "What users allow, and what they had received before they turned it off"
        case .install: "One install: what it received and did, and why nothing arrives"
        case .live: "What the check list for integrators is made of"
        case .quality: "What became of all events, by day of receipt, key and reason"
        case .reports: "The kept reports"
        case .deliveries: "The deliveries behind a figure"
        }
    }

    private static func operation(_ page: PageState.Page) -> String {
        var parameters = ["Format", "Table", "From", "To", "With", "By"]
        if page != .overview { parameters.insert("App", at: 0) }
        parameters += PageState.Filter.allCases.filter { page.filters.contains($0) }.map { name(of: $0) }
        if [.category, .campaign, .story].contains(page) { parameters.append("Search") }
        if page == .install { parameters.append("Range") }
        if page == .deliveries { parameters.append("After") }
        if page == .live || page == .reports { parameters.append("Position") }
        let word = page.rawValue.prefix(1).uppercased() + page.rawValue.dropFirst()
        let shared = [
            "BadRequest", "Unauthorized", "Forbidden", "NotFound", "MethodNotAllowed", "Misdirected", "TooManyRequests",
        ]
        let statuses = [400, 401, 403, 404, 405, 421, 429]
        let refusals = zip(statuses, shared).map {
            "        '\($0)': {$ref: '#/components/responses/\($1)'}"
        }
        return """
              \(path(of: page)):
                get:
                  tags: [tables]
                  operationId: read\(word)
                  summary: \(quoted(summary(of: page)))
                  parameters:
            \(parameters.map { "        - {$ref: '#/components/parameters/\($0)'}" }.joined(separator: "\n"))
                  responses:
                    '200': {$ref: '#/components/responses/Tables'}
                    '202': {$ref: '#/components/responses/StillReading'}
                    '303': {$ref: '#/components/responses/SignIn'}
                    '304': {description: The table is what it was.}
            \(refusals.joined(separator: "\n"))
                    '500': {$ref: '#/components/responses/Refused'}
                    '503': {$ref: '#/components/responses/Unavailable'}
            """
    }

    private static func name(of filter: PageState.Filter) -> String {
        "By" + filter.rawValue.prefix(1).uppercased() + filter.rawValue.dropFirst()
    }

    private static func parameter(
        _ component: String, _ name: String, _ description: String, _ schema: String, in place: String = "query",
        isRequired: Bool = false
    ) -> String {
        """
            \(component):
              name: \(name)
              in: \(place)
              required: \(isRequired)
              description: \(quoted(description))
              schema: \(schema)
        """
    }

    private static let parameters: String = {
        let days = "'^[0-9]{4}-[0-9]{2}-[0-9]{2}$'"
        let fixed = [
            parameter("App", "app", "Slug of the app", "{type: string}", in: "path", isRequired: true),
            parameter(
                "Format", "format", "json. Without it the answer is the page; csv is a file of the same table",
                "{enum: [json]}", isRequired: true),
            parameter(
                "Table", "table", "Name of the table. Without it the tables are listed",
                "{type: string, minLength: 1}"),
            parameter("From", "from", "First day", "{type: string, pattern: \(days)}"),
            parameter("To", "to", "Last day; up to 400 days", "{type: string, pattern: \(days)}"),
            parameter(
                "With", "with", "Other days, to compare with: FIRST..LAST",
                "{type: string, pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}\\.\\.[0-9]{4}-[0-9]{2}-[0-9]{2}$'}"),
            parameter(
                "Search", "search", "Of the list, only names that have this in them, in upper or lower case",
                "{type: string}"),
            parameter(
                "Range", "range", "The days that the page leads back to: FIRST..LAST. Changes no table",
                "{type: string, pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}\\.\\.[0-9]{4}-[0-9]{2}-[0-9]{2}$'}"),
            parameter(
                "By", "by", "Trends by day or week", "{enum: [\(list(PageState.Step.allCases.map(\.rawValue)))]}"),
            parameter(
                "After", "after", "Where the next page of rows begins, as the page leads to it", "{type: string}"),
            parameter("Position", "position", "A position in the log", "{type: string, pattern: '^[0-9]+$'}"),
        ]
        let filters = PageState.Filter.allCases.map { filter in
            let rules = GoalPage.Rule.allCases.map(\.rawValue)
            return parameter(
                name(of: filter), filter.rawValue, words(for: filter),
                filter == .rule ? "{enum: [\(list(rules))]}" : "{type: string}")
        }
        return (fixed + filters).joined(separator: "\n")
    }()

    private static func words(for filter: PageState.Filter) -> String {
        switch filter {
        case .flag: "Only deliveries of which this is true, such as opened"
        case .response: "Only deliveries with this first response"
        case .type: "Only events of this type"
        case .install: "Only events of this install"
        case .version: "Only this version of the app; where two are compared, the first"
        case .against: "The version of the app that it is compared with"
        case .rule: "By what goals are put down to notifications; else by response"
        default: "Only this \(filter.rawValue)"
        }
    }

    private static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }

    private static func list(_ words: [String]) -> String { words.joined(separator: ", ") }

    private static let responses: String = {
        func refusal(_ name: String, _ statuses: Int, _ header: String? = nil) -> String {
            let codes = Notice.Code.allCases.filter { $0.status == statuses }.map(\.rawValue)
            let headers = header.map { "      headers: {\($0)}\n" } ?? ""
            return """
                    \(name):
                      description: 'One of the codes: \(list(codes)).'
                \(headers)      content:
                        application/problem+json:
                          schema:
                            allOf:
                              - {$ref: '#/components/schemas/Problem'}
                              - {properties: {status: {const: \(statuses)}, code: {enum: [\(list(codes))]}}}
                """
        }
        let retry = "Retry-After: {$ref: '#/components/headers/RetryAfter'}"
        return """
                Tables:
                  description: The table, or which tables there are.
                  headers:
                    ETag: {description: Changes with the table., schema: {type: string}}
                  content:
                    application/json:
                      schema: {oneOf: [{$ref: '#/components/schemas/Table'}, {$ref: '#/components/schemas/Index'}]}
                    text/csv: {schema: {type: string}}
                    text/html: {schema: {type: string}}
                StillReading:
                  description: The page, asked for without format, takes longer.
                  content: {text/html: {schema: {type: string}}}
                SignIn:
                  description: Whoever asks for a page without a key is led to the form for people.
                  headers: {Location: {schema: {type: string}}}
                  content: {text/html: {schema: {type: string}}}
            \(refusal("BadRequest", 400))
            \(refusal("Unauthorized", 401, "WWW-Authenticate: {schema: {const: Bearer}}"))
            \(refusal("Forbidden", 403))
            \(refusal("NotFound", 404))
            \(refusal("MethodNotAllowed", 405, "Allow: {schema: {type: string}}"))
            \(refusal("Misdirected", 421))
            \(refusal("TooManyRequests", 429, retry))
            \(refusal("Refused", 500))
            \(refusal("Unavailable", 503, retry))
            """
    }()

    private static let schemas = """
            Problem:
              type: object
              required: [type, title, status, code, detail]
              properties:
                type: {const: 'about:blank'}
                title: {type: string}
                status: {type: integer}
                code: {type: string}
                detail: {type: string}
            Days:
              type: object
              required: [first, last]
              properties:
                first: {type: string, format: date}
                last: {type: string, format: date}
            Index:
              type: object
              required: [app, page, title, tables]
              properties:
                app: {type: [string, 'null']}
                page: {enum: [\(list(PageState.Page.allCases.map(\.rawValue)))]}
                title: {type: string}
                tables:
                  type: array
                  items:
                    type: object
                    required: [table, title, address]
                    properties:
                      table: {type: string}
                      title: {type: string}
                      address: {type: string, description: 'Where the table is, from the first slash on'}
            Table:
              type: object
              required: [app, page, table, title, time_zone, days, compared, position, settled, sql, columns, rows, is_cut]
              properties:
                app: {type: [string, 'null']}
                page: {enum: [\(list(PageState.Page.allCases.map(\.rawValue)))]}
                table: {type: string}
                title: {type: string}
                time_zone: {type: [string, 'null'], description: 'The zone in which days are counted'}
                days: {oneOf: [{$ref: '#/components/schemas/Days'}, {type: 'null'}]}
                compared:
                  description: The days compared with; null if nothing is compared
                  oneOf: [{$ref: '#/components/schemas/Days'}, {type: 'null'}]
                position:
                  type: string
                  description: |
                    The batch of the log up to which all funnels had counted; on a hub one a cell, `cell-1:12,cell-2:40`.
                settled:
                  description: Which of the days no longer change; null where no days are shown
                  oneOf:
                    - type: 'null'
                    - type: object
                      required: [through, all, hours, words]
                      properties:
                        through: {type: [string, 'null'], format: date, description: 'The last day that no longer changes'}
                        all: {type: boolean, description: Whether no day changes any more}
                        hours:
                          type: [number, 'null']
                          description: How long after its end a day still changes; null if too few events tell
                        words: {type: string, description: The same for people}
                sql: {type: string, description: What gives these rows in psql}
                columns:
                  type: array
                  items:
                    type: object
                    required: [name, type, meaning]
                    properties:
                      name: {type: string}
                      type:
                        enum: [smallint, integer, bigint, double precision, boolean, date, timestamptz, uuid, numeric, jsonb, text]
                      meaning: {type: string}
                rows:
                  type: array
                  maxItems: \(Listing.mostInFile)
                  items: {type: array, description: A value for each column; null for none}
                is_cut: {type: boolean, description: Whether there are more rows}

        """
}
