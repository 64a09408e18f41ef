internal import Accounts
internal import Reports
internal import Values

/// The style sheet: that of a report, and what only these pages have.
enum LookStyle {
    static let text = HTMLStyle.sheet + "\n" + own
    /// It changes with the text, so browsers may keep it.
    static let address = "/look.css?v=" + version(of: text)

    static func version(of text: String) -> String {
        SHA256(of: text.utf8).bytes.prefix(6).hex
    }

    private static let own = """
        body { padding-top: 0; max-width: 76rem; }
        main > * + * { margin-top: 1rem; }
        h1 { margin-top: 1.5rem; }
        section { margin-top: 2.75rem; }
        .top { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem 1rem; padding: 1rem 0 .75rem; border-bottom: 1px solid var(--line); }
        .home { font-weight: 650; text-decoration: none; letter-spacing: -.01em; color: var(--ink); }
        .app { color: var(--muted); overflow-wrap: anywhere; }
        .out { margin-inline-start: auto; }
        .out button { padding: 0; border: 0; background: none; color: var(--link); font-size: .9rem; font-weight: 400; text-decoration: underline; }
        body > nav { margin-top: .75rem; }
        [aria-current] { border-color: var(--link) !important; font-weight: 650; }
        .days, .signin { display: flex; flex-wrap: wrap; gap: .6rem 1rem; align-items: end; }
        label { display: grid; gap: .15rem; font-size: .825rem; color: var(--muted); max-width: 100%; }
        input, button, select { font: inherit; font-size: .95rem; color: var(--ink); background: var(--surface);
          border: 1px solid var(--muted); border-radius: 8px; padding: .35rem .6rem; max-width: 100%; min-width: 0; }
        button { background: var(--link); color: var(--page); border-color: var(--link); cursor: pointer; font-weight: 600; }
        .links { display: flex; flex-wrap: wrap; gap: .4rem .5rem; list-style: none; padding: 0; }
        .links a { display: block; padding: .2rem .7rem; border: 1px solid var(--line); border-radius: 99px; font-size: .875rem;
          text-decoration: none; background: var(--surface); overflow-wrap: anywhere; }
        .links a:hover { border-color: var(--link); }
        .spark { width: 5rem; height: 1.1em; margin-left: .6rem; vertical-align: -.15em; overflow: visible; }
        .spark path { fill: none; stroke: var(--bar); stroke-width: 1.5; vector-effect: non-scaling-stroke; stroke-linecap: round; }
        .source { display: flex; flex-wrap: wrap; gap: .35rem 1.25rem; align-items: baseline; font-size: .875rem; }
        .source > span { color: var(--muted); }
        .source > details { max-width: 100%; }
        .source > details[open] { flex: 1 0 100%; min-width: 0; }
        pre { overflow-x: auto; padding: .8rem 1rem; border: 1px solid var(--line); border-radius: 10px; background: var(--surface);
          font: .825rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; tab-size: 4; }
        code { overflow-wrap: anywhere; }
        tbody .prose bdi { max-width: 36rem; min-width: min(16rem, 55vw); }
        pre code { overflow-wrap: normal; }
        .copy { margin: .5rem 0 0; padding: .15rem .7rem; font-size: .825rem; }
        .exactly { display: flex; flex-wrap: wrap; gap: .3rem .8rem; align-items: baseline; font-size: .875rem; margin-top: .5rem; }
        .exactly .copy { margin: 0; background: none; color: var(--link); border-color: var(--line); font-weight: 400; }
        .beside-each-other { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); }
        .beside-each-other .ladder.beside:not(:only-child) { grid-template-columns: minmax(0, 1fr); }
        .checks { list-style: none; padding: 0; display: grid; gap: .5rem; max-width: 52rem; }
        .checks li { overflow-wrap: anywhere; padding: .55rem .9rem; border-left: 4px solid var(--line); background: var(--surface); border-radius: 4px 10px 10px 4px; }
        .checks .good { border-color: var(--good); }
        .checks .alarm { border-color: var(--alarm); }
        .checks .alarm .mark { color: var(--alarm); }
        .checks .good .mark { color: var(--good); }
        .live { list-style: none; padding: .5rem 0; max-height: 32rem; overflow: auto; border: 1px solid var(--line); border-radius: 10px;
          background: var(--surface); font: .8rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
        .live li { padding: .2rem .9rem; overflow-wrap: anywhere; border-bottom: 1px solid var(--line); }
        .live li.refused { background: var(--alarm-surface); }
        .busy { position: fixed; inset: 0 0 auto 0; height: 3px; z-index: 9; background: var(--link); }
        @media (prefers-reduced-motion: no-preference) {
          .busy { animation: busy 1.2s ease-in-out infinite alternate; transform-origin: left; }
          @keyframes busy { from { transform: scaleX(.08) } to { transform: scaleX(1) } }
        }
        @media print { main table { font-size: 6.5pt; } main th, main td { padding: .25rem .3rem; white-space: normal; } .gauge, .spark { display: none; } .source, .days, .links, .exactly, .top .out, .signin, .busy { display: none; } body { max-width: none; } .checks li { break-inside: avoid; } }
        @media (forced-colors: active) { .spark path { stroke: CanvasText; } }
        """
}
