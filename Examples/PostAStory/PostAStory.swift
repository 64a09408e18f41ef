import BellwetherClient
import Foundation

/// Plays a story of three pages as a phone would report it, and sends it to a server.
///
///     swift run post-a-story http://127.0.0.1:8080 KEY
@main
enum PostAStory {
    static func main() async {
        let words = CommandLine.arguments.dropFirst()
        guard words.count == 2, let server = words.first.flatMap({ URL(string: $0) }), let key = words.last else {
            say("usage: post-a-story URL WRITE-KEY")
            exit(64)
        }
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("post-a-story", isDirectory: true)
        var configuration = Bellwether.Configuration(server: server, writeKey: key, directory: directory)
        configuration.appVersion = "1.0.0"
        configuration.deliversByItself = false
        let bellwether = Bellwether(configuration)
        let diagnostics = bellwether.diagnostics
        Task { for await diagnostic in diagnostics { say("\(diagnostic)") } }

        await play(bellwether)
        let result = await bellwether.flush(within: 20)
        guard result == .delivered else {
            say("Not delivered yet (\(result)); the events wait in \(directory.path) for the next run.")
            exit(1)
        }
        print("A story was posted. Its pages: bellwether psql -- -c 'SELECT * FROM story_page_funnel'")
    }

    /// Records what the callbacks of a service extension and of a story's content extension would.
    private static func play(_ bellwether: Bellwether) async {
        let push = bellwether.push(payload(), request: Bellwether.Request(category: "PW_STORIES"))
        bellwether.received(
            push, .serviceExtension(media: Bellwether.Media(.prefetched, kind: .image, format: "jpg", network: .wifi)))

        let story = bellwether.story(of: push, loops: false)
        story.started(pageCount: 3)
        for page in 0..<3 {
            story.pageShown(at: page)
            try? await Task.sleep(nanoseconds: 1_000_000_000)
        }
        story.actionTapped(at: 2, link: URL(string: "shop://sale/spring"))
    }

    /// A payload as a push service delivers it, with a new message id each time.
    private static func payload() -> [AnyHashable: Any] {
        let pages = (1...3).map { number -> [String: Any] in
            [
                "image": "https://example.com/\(number).jpg", "duration": 1, "link": "shop://sale/spring",
                "button_title": "Have a look",
            ]
        }
        return [
            "aps": ["alert": ["title": "Spring is here"], "category": "PW_STORIES", "mutable-content": 1],
            "gcm.message_id": "0:\(Int(Date().timeIntervalSince1970 * 1_000_000))%31bd1c96",
            "google.c.a.c_id": "575315420755741863", "google.c.a.c_l": "Spring", "google.c.a.e": "1",
            "pw_stories": ["pages": pages],
        ]
    }

    private static func say(_ words: String) { FileHandle.standardError.write(Data((words + "\n").utf8)) }
}
