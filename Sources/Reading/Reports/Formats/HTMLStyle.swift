/// The style sheet of the page. Sizes follow the reader's font size. Nothing is fetched, and nothing is animated.
package enum HTMLStyle {
    package static let sheet = """
        :root { color-scheme: light dark; \(HTMLPalette.light.declarations) }
        @media screen and (prefers-color-scheme: dark) { :root { \(HTMLPalette.dark.declarations) } }
        \(layout)
        """

    private static let layout = """
        * { box-sizing: border-box; margin: 0; }
        html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
        body { margin: 0 auto; max-width: 66rem; padding: clamp(1.25rem, 5vw, 3.5rem) clamp(1rem, 4vw, 2.5rem) 5rem;
          background: var(--page); color: var(--ink); overflow-wrap: break-word;
          font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
          font-variant-numeric: tabular-nums; }
        a { color: var(--link); text-underline-offset: .2em; }
        :focus-visible { outline: 3px solid var(--link); outline-offset: 3px; border-radius: 4px; }
        .skip { position: absolute; left: -100vw; }
        .skip:focus { left: 1rem; top: .5rem; background: var(--surface); padding: .5rem .75rem; }
        .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

        h1 { overflow-wrap: anywhere; font-size: clamp(1.6rem, 1.2rem + 2vw, 2.4rem); line-height: 1.2; letter-spacing: -.02em;
          font-weight: 650; text-wrap: balance; }
        header p { margin-top: .6rem; color: var(--muted); max-width: 46rem; }
        h2 { font-size: 1.3rem; line-height: 1.3; letter-spacing: -.01em; font-weight: 650; }
        section { margin-top: 3.5rem; scroll-margin-top: 1rem; }
        section > * + * { margin-top: 1.25rem; }
        section > * + .ladder { margin-top: 2rem; }
        .divide { margin-top: 4.5rem; padding-top: 2rem; border-top: 3px double var(--muted); }

        nav { margin-top: 1.75rem; padding: .25rem 0; overflow-x: auto; scrollbar-width: thin; }
        nav ul { display: flex; gap: .5rem; padding: 0 0 .4rem; list-style: none; }
        nav a { position: relative; display: block; padding: .3rem .8rem; border: 1px solid var(--line); border-radius: 99px;
          background: var(--surface); color: var(--ink); font-size: .875rem; text-decoration: none; white-space: nowrap; }
        nav a:hover { border-color: var(--link); }
        @media (min-width: 48rem) { nav ul { flex-wrap: wrap; } }

        .figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(13rem, 100%), 1fr)); gap: 1rem; }
        .figures div { padding: 1.1rem 1.25rem 1.2rem; border: 1px solid var(--line); border-radius: 14px;
          background: var(--surface); }
        .figures dt { color: var(--muted); font-size: .9rem; }
        .figures .value { font-size: 2rem; line-height: 1.25; font-weight: 650; letter-spacing: -.02em; }
        .figures .detail { margin-top: .15rem; color: var(--muted); font-size: .9rem; line-height: 1.45; }

        p { max-width: 44rem; }
        section > p + p { margin-top: .6rem; }
        p.note { color: var(--muted); font-size: .875rem; line-height: 1.5; }
        p.alarm, p.good { padding: .75rem 1rem; border-left: 4px solid; border-radius: 4px 10px 10px 4px; }
        p.alarm { background: var(--alarm-surface); border-color: var(--alarm); }
        p.good { background: var(--good-surface); border-color: var(--good); }
        .mark { font-weight: 650; white-space: nowrap; }
        .alarm > .mark, nav .icon { color: var(--alarm); }
        .good > .mark { color: var(--good); }
        .icon { width: .95em; height: .95em; margin-right: .3em; vertical-align: -.1em; fill: currentColor; }

        .scroll { overflow-x: auto; scrollbar-width: thin; border-radius: 4px; container-type: inline-size; }
        table { border-collapse: collapse; min-width: 100%; font-size: .925rem; line-height: 1.4; }
        caption { padding-bottom: .5rem; text-align: start; color: var(--muted); font-size: .9rem; }
        th, td { padding: .5rem .75rem; border-bottom: 1px solid var(--line); text-align: start; vertical-align: baseline;
          font-weight: 400; }
        thead th { color: var(--muted); font-size: .825rem; vertical-align: bottom; }
        figcaption, caption { overflow-wrap: anywhere; }
        caption span { display: inline-block; position: sticky; left: 0; max-width: 100cqi; }
        tbody .name bdi { display: inline-block; max-width: 12.5rem; overflow-wrap: break-word; vertical-align: top; }
        .number, .bar { text-align: end; white-space: nowrap; }
        thead .number { white-space: normal; }
        tr > :first-child { position: sticky; left: 0; z-index: 1; padding-left: 0; background: var(--page); }
        tr > :last-child { padding-right: .25rem; }
        td { position: relative; }
        td.alarm, th.alarm { color: var(--alarm); font-weight: 600; }
        td.good, th.good { color: var(--good); font-weight: 600; }
        td.note, th.note { color: var(--muted); }
        tbody bdi:has(.icon) { position: relative; padding-inline-start: 1.3em; }
        tbody bdi .icon { position: absolute; inset-inline-start: 0; top: .22em; }
        .gauge { width: 5.5rem; height: .6rem; margin-left: .7rem; vertical-align: .02em; }
        thead .bar { padding-right: 6.95rem; white-space: normal; }
        .track { fill: var(--track); }
        .fill { fill: var(--bar); }
        .slope { fill: var(--slope); }
        .reach { stroke: var(--ink); stroke-width: 1.5; }

        .ladder { padding: 1.25rem; border: 1px solid var(--line); border-radius: 14px; background: var(--surface);
          display: grid; gap: 1.25rem; }
        .ladder > * { min-width: 0; }
        .ladder tr > :first-child { background: var(--surface); }
        figcaption { font-weight: 650; }
        .picture { display: block; width: 100%; max-width: 40rem; font-size: .925rem; overflow: visible; }
        .picture text { fill: var(--ink); }
        .picture .of { fill: var(--muted); }
        .trend { display: grid; gap: 1.25rem; }
        .graph { padding: 1.1rem 1.25rem; border: 1px solid var(--line); border-radius: 14px; background: var(--surface); }
        .trends { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(28rem, 100%), 1fr)); }
        .chart { display: block; margin-top: .35rem; overflow: visible; font-size: .825rem; }
        .axis { fill: var(--muted); paint-order: stroke; stroke: var(--surface); stroke-width: 4px; stroke-linejoin: round; }
        .rule { stroke: var(--line); stroke-width: 1; fill: none; }
        .chart path { vector-effect: non-scaling-stroke; fill: none; }
        .chart .run, .chart .was { stroke: var(--bar); stroke-width: 2; stroke-linejoin: round; }
        .chart .run.open { stroke-dasharray: 3 4; }
        .chart .was { stroke: var(--muted); stroke-width: 1.5; stroke-dasharray: 1 4; stroke-linecap: round; }
        .chart .usual { fill: var(--slope); }
        .chart .dot { stroke: var(--bar); stroke-width: 7; stroke-linecap: round; }
        .chart .dot.open { stroke: var(--muted); }
        .chart .told { stroke: var(--alarm); stroke-width: 2; }
        .still { fill: var(--track); opacity: .6; }
        .hit { fill: transparent; }
        .hit:hover { fill: var(--link); opacity: .14; }
        summary { color: var(--link); font-size: .9rem; cursor: pointer; width: fit-content; }
        details[open] > summary { margin-bottom: .75rem; }

        @media (min-width: 48rem) {
          .ladder { padding: 1.5rem 1.75rem; }
          @supports selector(details::details-content) {
            .ladder.beside { grid-template-columns: minmax(0, 5fr) minmax(0, 6fr); column-gap: 3rem; }
            .ladder.beside figcaption { grid-column: 1 / -1; }
            .ladder summary { display: none; }
            .ladder details::details-content { content-visibility: visible; }
          }
        }
        /* Half a window: the widest tables fit without scrolling. */
        @media (max-width: 64rem) {
          body { padding-inline: 1.25rem; }
          th, td { padding-inline: .4rem; }
          .gauge { width: 3.5rem; margin-left: .5rem; }
          thead .bar { padding-right: 4.4rem; }
          .ladder { padding: 1.25rem; }
          tbody .name bdi { max-width: 10.5rem; }
        }
        @media (max-width: 30rem) {
          tbody .name bdi { max-width: 9.25rem; }
          th, td { padding-inline: .5rem; }
          tbody th { min-width: 4.5rem; }
          .gauge { width: 3rem; margin-left: .5rem; }
          thead .bar { padding-right: 4rem; }
          .ladder { padding: 1rem; }
        }
        @media (forced-colors: active) {
          .fill { fill: CanvasText; } .track, .slope { fill: Canvas; } .chart .run, .chart .dot, .reach { stroke: CanvasText; }
        }
        @media print {
          :root { color-scheme: light; }
          @page { margin: 15mm; }
          html { font-size: 8.5pt; }
          body { padding: 0; max-width: none; background: none; }
          nav, .skip, summary { display: none; }
          .scroll { overflow: visible; container-type: normal; }
          .ladder, .graph, .figures div, tr, p { break-inside: avoid; }
          h2, caption, figcaption { break-after: avoid; }
          section { margin-top: 2rem; }
          tr > :first-child { position: static; background: none !important; }
          details::details-content { content-visibility: visible; display: block; }
        }
        """
}

/// The colours of the page by purpose, as `#rrggbb`.
struct HTMLPalette: Sendable {
    /// Backgrounds: the page, cards, alarms, good news, and the slope between two steps of a ladder.
    let page, surface, alarmSurface, goodSurface, slope: String
    /// Text.
    let ink, muted, link, alarm, good: String
    /// Rules, the tracks of bars, and bars.
    let line, track, bar: String

    static let light = HTMLPalette(
        page: "#fbfaf7", surface: "#ffffff", alarmSurface: "#fcebe7", goodSurface: "#e7f3ea", slope: "#e4eeed",
        ink: "#1d1c1a", muted: "#5f5b53", link: "#1f6266", alarm: "#a3261b", good: "#1d6639",
        line: "#e5e1d8", track: "#ebe8e1", bar: "#2f7679")

    static let dark = HTMLPalette(
        page: "#171614", surface: "#201f1c", alarmSurface: "#3a1d19", goodSurface: "#1a2e21", slope: "#22312f",
        ink: "#edeae3", muted: "#aea89c", link: "#8acbc7", alarm: "#ff9f93", good: "#8ad3a3",
        line: "#38352f", track: "#2d2b27", bar: "#6fb5b2")

    /// As custom properties of the style sheet.
    var declarations: String {
        let colors = [
            ("page", page), ("surface", surface), ("alarm-surface", alarmSurface), ("good-surface", goodSurface),
            ("slope", slope), ("ink", ink), ("muted", muted), ("link", link), ("alarm", alarm), ("good", good),
            ("line", line), ("track", track), ("bar", bar),
        ]
        return colors.map { "--\($0):\($1);" }.joined()
    }
}
