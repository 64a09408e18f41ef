internal import HTTPServer

/// For somebody who opens the ingestion port in a browser: what this is and where to look. It has no figure.
enum FrontPage {
    static func isAsked(_ head: RequestHead) -> Bool {
        head.path == "/" && (head.method == "GET" || head.method == "HEAD")
            && head.header("accept")?.contains("text/html") == true
    }

    /// `pages` is the address of the web pages, if this process serves them.
    static func response(pages: String?) -> Response {
        let look =
            pages.map { "Its pages are at <code>\($0)</code>, as seen from the machine that it runs on." }
            ?? "To look at the numbers, run <code>bellwether look</code> beside it."
        let text = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>Bellwether</title>
            </head>
            <body>
            <main>
            <h1>Bellwether</h1>
            <p>This address takes events from apps; it shows no figures. \(look)</p>
            <p>For developers: <a href="/openapi.yaml">the interface</a>, and <a href="/schema.json">the events</a> as a JSON Schema.</p>
            </main>
            </body>
            </html>

            """
        return Response(
            status: 200,
            headers: [
                ("Content-Type", "text/html; charset=utf-8"),
                (
                    "Content-Security-Policy",
                    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
                ),
                ("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store"),
            ], body: Array(text.utf8))
    }
}
