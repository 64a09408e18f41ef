import Foundation
import Testing

@testable import BellwetherClient

@Suite("What became of media is told from what comes out of the service extension")
struct MediaWatchTests {
    private typealias Media = BellwetherClient.Bellwether.Media

    private func conclude(
        _ address: String?, _ attachments: [MediaWatch.Attachment] = [], isOutOfTime: Bool = false
    ) -> Media? {
        MediaWatch(MediaAddress(address), startedAt: 10).conclude(
            attachments, isOutOfTime: isOutOfTime, network: nil, at: 10.42)
    }

    @Test("an attachment, time about to expire, a URL without an attachment, no URL")
    func outcomes() {
        let image = MediaWatch.Attachment(
            type: "public.jpeg", url: URL(fileURLWithPath: "/tmp/a1b2.JPG"), bytes: 120_344)
        let url = "https://example.com/film.mp4?x=1"
        #expect(
            conclude(url, [image], isOutOfTime: true)
                == Media(.attached, kind: .image, format: "jpg", bytes: 120_344, milliseconds: 420))
        #expect(
            conclude(url, isOutOfTime: true) == Media(.timedOut, kind: .video, format: "mp4", milliseconds: 420))
        #expect(conclude(url) == Media(.failed, kind: .video, format: "mp4", milliseconds: 420))
        #expect(
            conclude("http://example.com/x")
                == Media(.failed, kind: .unknown, reason: .insecureURL, milliseconds: 420))
        #expect(conclude("film.mp4") == Media(.failed, kind: .unknown, reason: .invalid, milliseconds: 420))
        #expect(conclude(nil, isOutOfTime: true) == Media(.none))
        #expect(conclude("") == Media(.none))
    }

    @Test("what the app says of it goes before what comes out, and it is told once")
    func told() {
        let watch = MediaWatch(MediaAddress("https://example.com/a.png"), startedAt: 0)
        watch.tell(Media(.skipped, reason: .cellular))
        #expect(
            watch.conclude([], isOutOfTime: false, network: .cellular, at: 0.01)
                == Media(.skipped, reason: .cellular, milliseconds: 10, network: .cellular))
        #expect(watch.conclude([], isOutOfTime: true, network: .cellular, at: 1) == nil)
    }

    @Test(
        "kinds are told from types and names",
        arguments: [
            ("public.png", "x", Media.Kind.image), ("com.compuserve.gif", "x", .image), ("public.mpeg-4", "x", .video),
            ("com.apple.quicktime-movie", "x", .video), ("public.mp3", "x", .audio),
            ("com.apple.m4a-audio", "x", .audio), ("com.microsoft.waveform-audio", "x", .audio),
            ("public.avi", "x", .video), ("public.data", "a.gif", .image), ("public.data", "a.xyz", .unknown),
        ])
    private func kinds(type: String, name: String, kind: Media.Kind) {
        #expect(MediaFormat(url: URL(fileURLWithPath: "/" + name), type: type).kind == kind)
    }
}
