// swift-tools-version: 6.2
import PackageDescription

/// Whether this is our house (the Makefile says so), and not an app that depends on the client library. Warnings are
/// errors here alone: in an app Xcode suppresses a package's warnings, and the compiler refuses to do both.
let isAtHome = Context.environment["BELLWETHER_STRICT"] != nil

/// What every target of the house is built with: Swift 6, imports that do not leak.
let strict: [SwiftSetting] =
    (isAtHome ? [.treatAllWarnings(as: .error)] : []) + [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]

/// Targets that touch C say `unsafe` at every place where the compiler cannot help.
let strictAtTheBorder = strict + [.strictMemorySafety()]

/// The programs, and what tests compute millions of times, are optimised in our debug builds, too: tests take less
/// time, and try what is almost the release. `-assert-config` keeps the checks that a release leaves out, such as the
/// bounds of unsafe buffers.
let quick: [SwiftSetting] =
    isAtHome ? [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))] : []
let program = strict + quick
let programAtTheBorder = strictAtTheBorder + quick

/// The groups with their modules: "Sources/Log": [EventLog] is Sources/Log/EventLog. A module imports only from its own
/// group and those above it here (ArchitectureTests). Docs/Architecture.md has the map.
let groups: KeyValuePairs<String, [Target]> = [
    // C libraries of the system, each imported by exactly one module (zlib also by the client library, which stands
    // alone).
    "Sources/C": [
        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CServerSockets", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CZlib"),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .target(
            name: "CSimdJSON",
            linkerSettings: [.linkedLibrary("simdjson")]
        ),
    ],
    // No words of the domain, no I/O beyond what the name says.
    "Sources/System": [
        // What the client library shares with the rest: the version.
        .target(name: "BellwetherVersion", swiftSettings: strict),
        .target(name: "Values", swiftSettings: program),
        .target(name: "ServiceRuntime", dependencies: ["Values"], swiftSettings: programAtTheBorder),
        .target(name: "JSON", dependencies: ["CSimdJSON"], swiftSettings: programAtTheBorder),
        .target(name: "Compression", dependencies: ["CZlib"], swiftSettings: programAtTheBorder),
    ],
    // What app developers build into their apps: of this package it uses the system's zlib and the version.
    "Sources/Client": [
        .target(
            name: "BellwetherClient", dependencies: ["BellwetherVersion", "CZlib"],
            resources: [.copy("PrivacyInfo.xcprivacy")],
            swiftSettings: strictAtTheBorder)
    ],
    // One module for each thing outside: database, its server, HTTP.
    "Sources/Outside": [
        .target(
            name: "Postgres", dependencies: ["CLibPQ", "ServiceRuntime", "Values"], swiftSettings: programAtTheBorder),
        .target(name: "EmbeddedPostgres", dependencies: ["ServiceRuntime"], swiftSettings: programAtTheBorder),
        .target(
            name: "HTTPServer", dependencies: ["CServerSockets", "ServiceRuntime"], swiftSettings: programAtTheBorder),
        .target(name: "HTTPClient", dependencies: ["BellwetherVersion", "CCurl"], swiftSettings: programAtTheBorder),
    ],
    // What an event is, and what is kept: apps and their keys, events, sends, categories.
    "Sources/Log": [
        .target(name: "Telemetry", dependencies: ["Values"], swiftSettings: program),
        // What one request carries, read event by event.
        .target(
            name: "Envelopes", dependencies: ["JSON", "ServiceRuntime", "Telemetry", "Values"],
            swiftSettings: program),
        // Apps, their keys, and the sessions and roles in which anybody works on the database.
        .target(
            name: "Accounts", dependencies: ["CCrypto", "Postgres", "ServiceRuntime", "Values"],
            swiftSettings: programAtTheBorder),
        .target(
            name: "EventLog",
            dependencies: ["Accounts", "Envelopes", "Postgres", "ServiceRuntime", "Telemetry", "Values"],
            swiftSettings: programAtTheBorder),
        // What was sent: the top of the funnel.
        .target(
            name: "Sends", dependencies: ["JSON", "Postgres", "Telemetry", "Values"],
            swiftSettings: program),
        .target(
            name: "Registry", dependencies: ["Accounts", "JSON", "Postgres", "ServiceRuntime", "Values"],
            swiftSettings: program),
    ],
    // From a request to a commit and its answer.
    "Sources/Intake": [
        .target(
            name: "Ingestion",
            dependencies: [
                "Accounts", "BellwetherVersion", "Compression", "Envelopes", "EventLog", "HTTPServer", "Postgres",
                "Registry", "Sends", "ServiceRuntime", "Telemetry", "Values",
            ],
            resources: [.embedInCode("openapi.yaml"), .embedInCode("routes.yaml"), .embedInCode("schema.json")],
            swiftSettings: program)
    ],
    // What is counted from the log.
    "Sources/Funnels": [
        .target(
            name: "Projections",
            dependencies: ["Accounts", "EventLog", "Postgres", "ServiceRuntime", "Telemetry", "Values"],
            swiftSettings: program)
    ],
    // What people look at: the report and the pages.
    "Sources/Reading": [
        .target(
            name: "Reports", dependencies: ["Postgres", "ServiceRuntime", "Telemetry", "Values"], swiftSettings: program
        ),
        // Reports on their way to people: to whom, and what became of each.
        .target(
            name: "Letters", dependencies: ["JSON", "Postgres", "Reports", "ServiceRuntime", "Values"],
            swiftSettings: program),
        .target(
            name: "Look",
            dependencies: [
                "Accounts", "BellwetherVersion", "Compression", "EventLog", "HTTPServer", "Postgres", "Reports",
                "ServiceRuntime", "Telemetry", "Values",
            ],
            swiftSettings: program),
    ],
    // What keeps a database, or several as a cluster, going: schema, health, cells, retention and erasure.
    "Sources/Operations": [
        .target(
            name: "Migrations", dependencies: ["EventLog", "Postgres", "Projections", "ServiceRuntime"],
            resources: [.embedInCode("sql")], swiftSettings: program),
        // Whether the database is there, fits, and tells the same time.
        .target(
            name: "Health",
            dependencies: ["Accounts", "EventLog", "Migrations", "Postgres", "ServiceRuntime", "Values"],
            swiftSettings: program),
        // Several databases that hold the installs together.
        .target(
            name: "Clusters",
            dependencies: [
                "Accounts", "EventLog", "Migrations", "Postgres", "Projections", "Registry", "Sends", "ServiceRuntime",
                "Telemetry", "Values",
            ],
            swiftSettings: program),
        // What goes: months by retention, an install by erasure.
        .target(
            name: "Removal",
            dependencies: [
                "Accounts", "Clusters", "EventLog", "Health", "Postgres", "Projections", "Sends", "ServiceRuntime",
                "Values",
            ],
            swiftSettings: program),
    ],
    // What runs in production.
    "Sources/Programs": [
        .target(
            name: "Console",
            dependencies: [
                "Accounts", "BellwetherVersion", "EmbeddedPostgres", "Health", "Letters", "Migrations", "Postgres",
                "ServiceRuntime",
            ],
            swiftSettings: program),
        .target(
            name: "Serving",
            dependencies: [
                "Accounts", "EventLog", "Health", "HTTPServer", "Ingestion", "Postgres", "Projections", "Registry",
                "Removal", "Sends", "ServiceRuntime", "Values",
            ],
            swiftSettings: program),
        .executableTarget(
            name: "bellwether",
            dependencies: [
                "Accounts", "Clusters", "Console", "EmbeddedPostgres", "EventLog", "Health", "HTTPServer", "Ingestion",
                "Letters", "Look", "Migrations", "Postgres", "Projections", "Registry", "Removal", "Reports", "Sends",
                "ServiceRuntime", "Serving", "Telemetry", "Values",
            ],
            swiftSettings: program),
    ],
    // What takes reports to people, with an HTTP client of its own.
    "Sources/Delivery": [
        .target(
            name: "Mailroom",
            dependencies: ["Accounts", "HTTPClient", "Letters", "Postgres", "ServiceRuntime", "Values"],
            swiftSettings: program),
        .executableTarget(
            name: "bellwether-deliver",
            dependencies: ["Console", "Letters", "Mailroom", "Postgres", "ServiceRuntime"],
            swiftSettings: program),
    ],
    // What shows and tries it, which alone needs an HTTP client: believable telemetry, and how it gets to a server.
    "Sources/Demo": [
        .target(
            name: "Simulation", dependencies: ["BellwetherVersion", "ServiceRuntime", "Telemetry", "Values"],
            swiftSettings: program),
        .target(
            name: "Posting",
            dependencies: ["Compression", "HTTPClient", "JSON", "ServiceRuntime", "Simulation", "Values"],
            swiftSettings: program),
        .executableTarget(
            name: "bellwether-demo",
            dependencies: [
                "Accounts", "Console", "EmbeddedPostgres", "HTTPServer", "Postgres", "Posting", "Projections",
                "Registry", "Reports", "Sends", "ServiceRuntime", "Serving", "Simulation", "Values",
            ],
            swiftSettings: program),
    ],
    // What tests share.
    "Tests/Support": [
        // Where tests find the project's documents and sources.
        .target(name: "ProjectFolder", swiftSettings: strict),
        // What follows from the catalogue: the text that is generated, and values for each member, good and bad.
        .target(
            name: "CatalogueSupport", dependencies: ["Envelopes", "ProjectFolder", "Telemetry", "Values"],
            swiftSettings: strict
        ),
        .target(
            name: "TestSupport",
            dependencies: [
                "Accounts", "CatalogueSupport", "EmbeddedPostgres", "Envelopes", "EventLog", "Migrations", "Postgres",
                "ProjectFolder", "Projections", "ServiceRuntime", "Telemetry", "Values",
            ], swiftSettings: strict),
    ],
    "Tests/System": [
        .testTarget(name: "ValuesTests", dependencies: ["Values"], swiftSettings: strict),
        .testTarget(name: "ServiceRuntimeTests", dependencies: ["ServiceRuntime"], swiftSettings: strict),
        .testTarget(name: "JSONTests", dependencies: ["JSON", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "CompressionTests", dependencies: ["Compression", "CZlib"], swiftSettings: strict),
    ],
    "Tests/Outside": [
        // A real PostgreSQL, started by the tests.
        .testTarget(
            name: "EmbeddedPostgresTests", dependencies: ["EmbeddedPostgres", "ServiceRuntime", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "HTTPServerTests", dependencies: ["HTTPServer", "ServiceRuntime", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "HTTPClientTests", dependencies: ["BellwetherVersion", "HTTPClient", "HTTPServer", "ServiceRuntime"],
            swiftSettings: strict),
    ],
    "Tests/Log": [
        .testTarget(
            name: "TelemetryTests", dependencies: ["CatalogueSupport", "Telemetry", "Values"], swiftSettings: strict),
        .testTarget(
            name: "SendsTests", dependencies: ["Sends", "Telemetry", "TestSupport", "Values"], swiftSettings: strict),
        .testTarget(
            name: "RegistryTests", dependencies: ["ProjectFolder", "Registry", "Values"], swiftSettings: strict),
    ],
    "Tests/Intake": [
        .testTarget(
            name: "IngestionTests",
            dependencies: [
                "Accounts", "CatalogueSupport", "Envelopes", "Ingestion", "JSON", "ServiceRuntime", "Telemetry",
                "TestSupport", "Values",
            ],
            swiftSettings: strict)
    ],
    "Tests/Funnels": [
        // What the funnels must show, computed slowly and plainly, and the events to try it with.
        .target(
            name: "FunnelOracle", dependencies: ["Telemetry", "Values"],
            swiftSettings: strict + quick),
        .testTarget(
            name: "FunnelOracleTests", dependencies: ["FunnelOracle", "Telemetry", "Values"], swiftSettings: strict),
        // The same events folded as the product does it, in memory, to compare.
        .target(
            name: "HistoryFold", dependencies: ["FunnelOracle", "Projections", "Telemetry", "Values"],
            swiftSettings: strict + quick),
        .testTarget(
            name: "ProjectionsTests",
            dependencies: ["FunnelOracle", "HistoryFold", "Projections", "Telemetry", "Values"],
            swiftSettings: strict + quick),
        // The example of the guide "Adding a projector", compiled as the guide has it.
        .target(
            name: "ProjectorExample", dependencies: ["Projections", "Telemetry"],
            swiftSettings: strict),
    ],
    "Tests/Reading": [
        .testTarget(
            name: "ReportsTests",
            dependencies: [
                "FunnelOracle", "ProjectFolder", "Reports", "ServiceRuntime", "Telemetry", "TestSupport", "Values",
            ],
            exclude: ["browser", "schema"], swiftSettings: strict),
        .testTarget(
            name: "LettersTests", dependencies: ["Letters", "Reports"], swiftSettings: strict),
        .testTarget(
            name: "LookTests",
            dependencies: [
                "Accounts", "bellwether", "bellwether-demo", "CatalogueSupport", "Envelopes", "EventLog", "HTTPServer",
                "Look", "Postgres", "ProjectFolder", "Projections", "Registry", "Reports", "ServiceRuntime",
                "Telemetry", "TestSupport", "Values",
            ],
            swiftSettings: strict),
    ],
    "Tests/Operations": [
        // Several databases as one cluster.
        .testTarget(
            name: "ClusterTests",
            dependencies: [
                "Accounts", "bellwether", "bellwether-deliver", "CatalogueSupport", "Clusters", "EmbeddedPostgres",
                "Envelopes",
                "EventLog", "FunnelOracle", "Look", "Postgres", "ProjectFolder", "Projections", "Reports",
                "ServiceRuntime",
                "Simulation", "Telemetry", "TestSupport", "Values",
            ],
            swiftSettings: strict)
    ],
    "Tests/Delivery": [
        .testTarget(
            name: "MailroomTests",
            dependencies: [
                "bellwether", "bellwether-deliver", "EventLog", "HTTPServer", "Letters", "Mailroom", "Postgres",
                "ProjectFolder", "ServiceRuntime", "TestSupport", "Values",
            ],
            exclude: ["post"], swiftSettings: strict)
    ],
    "Tests/Demo": [
        .testTarget(
            name: "SimulationTests",
            dependencies: ["CatalogueSupport", "Envelopes", "Sends", "Simulation", "Telemetry", "Values"],
            swiftSettings: strict),
        .testTarget(
            name: "PostingTests",
            dependencies: ["Compression", "HTTPServer", "Posting", "ServiceRuntime", "Simulation", "Values"],
            swiftSettings: strict),
    ],
    "Tests/Client": [
        .testTarget(
            name: "BellwetherClientTests",
            dependencies: [
                "BellwetherClient", "BellwetherVersion", "CatalogueSupport", "Compression", "Envelopes",
                "ProjectFolder", "ServiceRuntime", "Telemetry", "TestSupport", "Values",
            ],
            exclude: ["AppleModules"], swiftSettings: strict),
        // An app and its extension, to be killed.
        .executableTarget(
            name: "ClientProcess", dependencies: ["BellwetherClient"],
            swiftSettings: strict),
    ],
    // Several modules together: on a database, as the real binary, and under faults.
    "Tests/Whole": [
        // Who imports whom, and what the guide says of it.
        .testTarget(name: "ArchitectureTests", dependencies: ["ProjectFolder"], swiftSettings: strict),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "Accounts", "CatalogueSupport", "EmbeddedPostgres", "Envelopes", "EventLog", "FunnelOracle", "Health",
                "HTTPServer", "Ingestion", "Migrations", "Postgres", "ProjectFolder", "Projections", "ProjectorExample",
                "Registry", "Reports", "Sends", "ServiceRuntime", "Simulation", "Telemetry", "TestSupport", "Values",
            ], swiftSettings: strict),
        // The real binary.
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "Accounts", "bellwether", "bellwether-deliver", "bellwether-demo", "BellwetherClient",
                "BellwetherVersion",
                "CatalogueSupport", "EmbeddedPostgres", "Envelopes", "EventLog", "Ingestion", "post-a-story",
                "Postgres", "ProjectFolder", "Registry", "Sends", "ServiceRuntime", "Telemetry", "TestSupport",
                "Values",
            ],
            exclude: ["deployment", "openapi"], swiftSettings: strict),
        .testTarget(
            name: "FaultTests",
            dependencies: [
                "bellwether", "BellwetherClient", "ClientProcess", "Compression", "EmbeddedPostgres", "EventLog",
                "FunnelOracle", "Migrations", "Postgres", "ProjectFolder", "ServiceRuntime", "Telemetry", "TestSupport",
                "Values",
            ],
            exclude: ["power"], swiftSettings: strict),
        // What holds for all input: tried by the fuzzer with what it makes up, and by tests with what it has found.
        .target(
            name: "Fuzzing",
            dependencies: [
                "CatalogueSupport", "Compression", "Envelopes", "FunnelOracle", "HistoryFold", "JSON", "Projections",
                "Registry", "Sends", "ServiceRuntime", "Telemetry", "Values",
            ],
            path: "Tests/Whole/Fuzzing",
            exclude: ["ClientLaws", "Corpus", "convert", "driver.c", "run", "words.dict"], sources: ["Laws"],
            swiftSettings: strict),
        // The same for the client library. It sees what is internal there: a release build of it needs -enable-testing.
        .target(
            name: "ClientFuzzing", dependencies: ["BellwetherClient", "Envelopes", "Telemetry", "Values"],
            path: "Tests/Whole/Fuzzing",
            exclude: ["Corpus", "Laws", "convert", "driver.c", "run", "words.dict"], sources: ["ClientLaws"],
            swiftSettings: strict),
        .testTarget(
            name: "FuzzingTests", dependencies: ["ClientFuzzing", "Envelopes", "Fuzzing", "ProjectFolder", "Sends"],
            swiftSettings: strict),
    ],
]

/// Targets, each in the folder of its group unless it says where else it is.
func placed(_ groups: KeyValuePairs<String, [Target]>) -> [Target] {
    groups.flatMap { folder, targets in
        for target in targets where target.path == nil { target.path = "\(folder)/\(target.name)" }
        return targets
    }
}

let package = Package(
    name: "bellwether",
    platforms: [.iOS(.v15), .macOS(.v12), .macCatalyst(.v15), .tvOS(.v15), .watchOS(.v8), .visionOS(.v1)],
    products: [
        .executable(name: "bellwether", targets: ["bellwether"]),
        .executable(name: "bellwether-deliver", targets: ["bellwether-deliver"]),
        .executable(name: "bellwether-demo", targets: ["bellwether-demo"]),
        .library(name: "BellwetherClient", targets: ["BellwetherClient"]),
    ]
        // What the fuzzer links with a main of its own (Tests/Whole/Fuzzing/run).
        + (isAtHome ? ["Fuzzing", "ClientFuzzing"].map { .library(name: $0, type: .static, targets: [$0]) } : []),
    targets: placed(groups) + [
        .executableTarget(
            name: "post-a-story", dependencies: ["BellwetherClient"], path: "Examples/PostAStory",
            swiftSettings: strict)
    ],
    cxxLanguageStandard: .cxx17
)
