import Foundation
import TestSupport
import Testing

@Suite("Completion and the manual page")
struct CompletionTests {
    private static let bellwether = Bellwether(database: "postgresql://127.0.0.1:1/none")

    private static func run(_ words: [String]) throws -> String {
        let ended = try bellwether.start(words).wait()
        #expect(ended.status == 0 && ended.messages.isEmpty, "\(words): \(ended.messages)")
        return ended.output
    }

    private func candidates(_ words: String...) throws -> [String] {
        try Self.run(["completion", "--words", "--"] + words).split(separator: "\n")
            .map { String($0.prefix { $0 != "\t" }) }
    }

    @Test("the next word of a command, its options and their values come from the commands themselves")
    func words() throws {
        #expect(try candidates("app", "") == ["create", "list", "set", "key", "analyst", "--help"])
        #expect(try candidates("app", "k") == ["key"])
        #expect(try candidates("app", "key", "") == ["add", "revoke", "--help"])
        #expect(try candidates("").contains("serve"))
        #expect(try candidates("rep") == ["report"])
        #expect(try candidates("report", "--form") == ["--format"])
        #expect(try candidates("report", "--format", "") == ["text", "markdown", "html", "json", "csv"])
        #expect(try candidates("report", "--format=m") == ["--format=markdown"])
        #expect(try candidates("status", "--format", "json", "--f") == [])
        #expect(try candidates("report", "--output", "") == [":files"])
        #expect(try candidates("sends", "import", "") == [":files"])
        #expect(try candidates("completion", "") == ["bash", "zsh", "fish"])
        #expect(try candidates("no", "such", "") == [])
    }

    /// What each shell offers after this line.
    private static let lines = [
        ("bellwether app k", ["key"]), ("bellwether status --format ", ["text", "json"]),
        ("bellwether serve --log-level w", ["warning"]),
    ]

    @Test("bash, zsh and fish offer it", arguments: ["bash", "zsh", "fish"])
    func shells(shell: String) throws {
        let directory = TemporaryDirectory()
        let program = (Bellwether.path as NSString).deletingLastPathComponent
        let script = directory.path + (shell == "zsh" ? "/_bellwether" : "/bellwether.\(shell)")
        try Self.bellwether.trusted("completion", shell).write(toFile: script, atomically: true, encoding: .utf8)
        for (line, offered) in Self.lines {
            let asks: [String] =
                switch shell {
                case "bash":
                    [
                        "bash", "-c",
                        """
                        source "$1"; COMP_LINE=$2; COMP_POINT=${#2}
                        read -ra COMP_WORDS <<< "$2"; [[ $2 == *' ' ]] && COMP_WORDS+=('')
                        COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _bellwether; printf '%s\\n' "${COMPREPLY[@]}"
                        """, "bash", script, line,
                    ]
                case "zsh":
                    [
                        "zsh", "-f", "-c",
                        """
                        compdef() { :; }; _describe() { print -l -- ${${(P)2}%%:*}; }; _files() { :; }
                        source "$1"; words=(${=2}); [[ $2 == *' ' ]] && words+=(''); CURRENT=$#words; _bellwether
                        """, "zsh", script, line,
                    ]
                default:
                    ["fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2] | cut -f1", script, line]
                }
            let ended = try ChildProcess.run(
                ["/usr/bin/env", "PATH=\(program):/usr/bin:/bin", "HOME=\(directory.path)"] + asks, within: 60)
            // Fish sorts them.
            let shown = Set(ended.output.split(separator: "\n").map(String.init))
            #expect(shown == Set(offered), "\(line): \(ended.messages)")
        }
    }

    @Test("the manual page names every command and option, and groff has no complaint")
    func manual() throws {
        let page = try Self.bellwether.trusted("man")
        let directory = TemporaryDirectory()
        let file = directory.path + "/bellwether.1"
        try page.write(toFile: file, atomically: true, encoding: .utf8)
        let shown = try ChildProcess.run(
            ["/usr/bin/groff", "-man", "-Tascii", "-ww", "-P-cbou", file], within: 60)
        #expect(shown.status == 0 && shown.messages.isEmpty, "\(shown.messages)")
        for words in try CommandLineTests.commands() {
            #expect(shown.output.contains("bellwether " + words.joined(separator: " ")), "\(words)")
        }
        for text in ["--database URL", "BELLWETHER_DATABASE_URL", "EXIT STATUS", "--log-level LEVEL"] {
            #expect(shown.output.contains(text), "\(text)")
        }
    }
}
