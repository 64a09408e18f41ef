package import Letters
internal import ServiceRuntime

/// A letter for the channel of a chat. All words are plain text there: a name from outside becomes neither a link nor a
/// mention.
package enum ChatMessage {
    /// What Slack's incoming webhooks take. Mattermost and Rocket.Chat read `text` alone.
    package static func slack(_ letter: Letter, _ contents: Letter.Contents) -> String {
        let words = words(letter, contents)
        let escaped = inert(words).replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;")
        let body: JSONObject = ["type": "plain_text", "text": words, "emoji": false]
        let section: JSONObject = ["type": "section", "text": body]
        let message: JSONObject = [
            "text": escaped, "mrkdwn": false, "link_names": false, "unfurl_links": false, "unfurl_media": false,
            "blocks": [section],
        ]
        return message.json
    }

    /// What Teams takes at a webhook of a workflow: an adaptive card. Its runs of text have no markup.
    package static func teams(_ letter: Letter, _ contents: Letter.Contents) -> String {
        let lines = words(letter, contents).split(separator: "\n").enumerated().map { place, line -> JSONObject in
            let run: JSONObject = [
                "type": "TextRun", "text": String(line), "weight": place == 0 ? "Bolder" : "Default",
            ]
            return ["type": "RichTextBlock", "inlines": [run]]
        }
        let card: JSONObject = [
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
            "body": lines,
        ]
        let attachment: JSONObject = [
            "contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": String?.none, "content": card,
        ]
        let message: JSONObject = ["type": "message", "attachments": [attachment]]
        return message.json
    }

    /// Without what Mattermost and Rocket.Chat, whose `text` is Markdown, take for a mention, a link or markup: a space
    /// without width stands in it.
    private static func inert(_ words: String) -> String {
        var inert = ""
        for scalar in words.unicodeScalars {
            inert.unicodeScalars.append(scalar)
            if "@#[]!*`\\".unicodeScalars.contains(scalar) { inert.unicodeScalars.append("\u{200B}") }
        }
        return inert.replacing("://", with: ":\u{200B}//").replacing("mailto:", with: "mailto\u{200B}:")
            .replacing("www.", with: "www\u{200B}.")
    }

    private static func words(_ letter: Letter, _ contents: Letter.Contents) -> String {
        letter.mayHaveArrived ? "\(contents.summary)\n\(MailMessage.repeatNote) (\(letter.id))" : contents.summary
    }
}
