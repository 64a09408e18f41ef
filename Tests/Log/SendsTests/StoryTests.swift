import Testing

@testable import Sends

@Suite("The story of a payload")
struct StoryTests {
    private static let block = #"{"pages":[{"image":"https://e.com/1.jpg","title":"One"}]}"#
    private static let text = #"{\"pw_stories\":{\"pages\":[{\"image\":\"https://e.com/1.jpg\",\"title\":\"One\"}]}}"#

    @Test(
        "is found wherever a service puts it",
        arguments: [
            #"{"pw_stories":\#(block)}"#, #"{"u":{"pw_stories":\#(block)}}"#, #"{"u":"\#(text)"}"#,
            #"{"userdata":{"pw_stories":\#(block)}}"#, #"{"userdata":"\#(text)"}"#,
            #"{"request":{"notifications":[{"content":"x"},{"data":{"pw_stories":\#(block)}}]}}"#,
            #"{"request":{"notifications":[{"data":"\#(text)"}]}}"#,
            #"{"request":{"notifications":[{"ios_root_params":{"pw_stories":\#(block)}}]}}"#,
            #"{"message":{"apns":{"payload":{"u":"\#(text)"}}}}"#, #"{"message":{"data":{"u":"\#(text)"}}}"#,
            #"{"u":"{\"pw_stories\":7}","userdata":"\#(text)"}"#,
        ])
    func places(payload: String) throws {
        let story = try send(payload: payload).story
        #expect(story?.pages.map(\.title) == ["One"])
        #expect(story?.outcome == "playable")
    }

    @Test("the root goes before custom data")
    func precedence() throws {
        let payload = #"{"u":"\#(Self.text)","pw_stories":{"pages":[{"image":"https://e.com/r.jpg","title":"Root"}]}}"#
        #expect(try send(payload: payload).story?.pages.map(\.title) == ["Root"])
    }

    @Test(
        "is malformed where the player can make nothing of it",
        arguments: [
            #"{"pw_stories":"garbage"}"#, #"{"pw_stories":{"pages":"nope"}}"#, #"{"pw_stories":{}}"#,
            #"{"pw_stories":{"pages":[{"image":"https://e.com/1.jpg"},5]}}"#, #"{"u":"{\"pw_stories\":{"}"#,
            #"{"u":{"pw_stories":[]}}"#,
        ])
    func malformed(payload: String) throws {
        #expect(try send(payload: payload).story == .malformed)
    }

    @Test("is none where nothing is said of one")
    func none() throws {
        for payload in ["{}", #"{"u":"hello"}"#, #"{"u":5,"userdata":null}"#, #"{"pw_stories":null}"#] {
            #expect(try send(payload: payload).story == nil, "\(payload)")
        }
    }

    @Test("durations are the payload's seconds: 5 where none counts, at most 30")
    func durations() throws {
        for (duration, milliseconds) in [
            ("7", 7000), ("2.5", 2500), ("0.0004", 0), ("30.001", 30_000), ("1e308", 30_000), ("0", 5000),
            ("-3", 5000), (#""7""#, 5000), ("true", 5000), ("null", 5000), ("[7]", 5000),
        ] {
            let pages = try send(payload: #"{"pw_stories":{"pages":[{"image":"a:b","duration":\#(duration)}]}}"#).story?
                .pages
            #expect(pages?.map(\.milliseconds) == [Int32(milliseconds)], "\(duration)")
        }
    }

    @Test("a page without an image that is a URL is never shown, and later ones move up")
    func indexes() throws {
        let story = try send(
            payload:
                #"{"pw_stories":{"pages":[{"image":"https://e.com/1"},{"image":12},{},{"image":"e.com/4"},{"image":"https://e.com/5"}]}}"#
        ).story
        #expect(story?.pages.map(\.declaredIndex) == [0, 1, 2, 3, 4])
        #expect(story?.pages.map(\.pageIndex) == [0, nil, nil, nil, 1])
        #expect(story?.pages.map(\.fault) == [nil, .noImage, .noImage, .noImage, nil])
        let none = try send(payload: #"{"pw_stories":{"pages":[{"title":"x"}]}}"#).story
        #expect(none?.outcome == "no_valid_page")
        #expect(try send(payload: #"{"pw_stories":{"pages":[]}}"#).story?.outcome == "no_valid_page")
    }

    @Test("of a page's faults the worst is told")
    func faults() throws {
        for (page, fault) in [
            (#""link":"a:b","button_title":"Buy""#, nil), (#""link":"","button_title":"""#, nil),
            (#""link":"e.com/x","button_title":"Buy""#, .invalidLink), (#""link":7"#, .invalidLink),
            (#""button_title":"Buy""#, .buttonWithoutLink), (#""button_title":"Buy","link":null"#, .buttonWithoutLink),
            (#""link":"a:b""#, .linkWithoutButton), (#""link":"a:b","button_title":"""#, .linkWithoutButton),
            (#""image":"x","link":"y""#, .noImage),
        ] as [(String, StoryFault?)] {
            let pages = try send(payload: #"{"pw_stories":{"pages":[{"image":"https://e.com/1",\#(page)}]}}"#).story?
                .pages
            #expect(pages?.map(\.fault) == [fault], "\(page)")
        }
    }

    @Test("titles that say nothing or cannot be kept are none")
    func titles() throws {
        let story = try send(
            payload: #"{"pw_stories":{"pages":[{"image":"a:b","title":"","subtitle":"Up to 70 %","button_title":5}]}}"#
        ).story
        #expect(story?.pages.map(\.title) == [nil])
        #expect(story?.pages.map(\.subtitle) == ["Up to 70 %"])
        #expect(story?.pages.map(\.buttonTitle) == [nil])
        let nul = try send(
            payload: #"{"u":"{\"pw_stories\":{\"pages\":[{\"image\":\"a:b\",\"title\":\"x\\u0000y\"}]}}"}"#
        ).story
        #expect(nul?.pages.map(\.title) == [nil])
    }
}
