/// What makes the pages nicer: copying SQL, a sign that a page is being read, and Live without reading the page anew.
/// Everything works without it.
enum LookScript {
    static let address = "/look.js?v=" + LookStyle.version(of: text)

    static let text = #"""
        "use strict";
        for (const sql of document.querySelectorAll(".sql pre")) {
          const button = document.createElement("button");
          button.type = "button";
          button.className = "copy";
          button.textContent = "Copy";
          button.addEventListener("click", async () => {
            try {
              await navigator.clipboard.writeText(sql.textContent);
              button.textContent = "Copied";
            } catch {
              getSelection().selectAllChildren(sql);
              button.textContent = "Selected: press Ctrl-C";
            }
          });
          sql.after(button);
        }

        // A sign once a page takes long. Escape or the browser's stop button cancels it.
        const waits = () => setTimeout(() => {
          if (document.querySelector(".busy")) return;
          const bar = document.createElement("div");
          bar.className = "busy";
          bar.setAttribute("role", "progressbar");
          bar.setAttribute("aria-label", "Reading the page");
          document.body.append(bar);
        }, 400);
        addEventListener("click", event => {
          const link = event.target.closest("a[href^='/']");
          if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey && !link.href.includes("format=")) waits();
        });
        addEventListener("submit", waits);
        addEventListener("pageshow", () => document.querySelector(".busy")?.remove());

        const list = document.getElementById("live");
        if (list) {
          const state = document.getElementById("live-state");
          const most = 300;
          const address = new URL(list.dataset.feed, location.href);
          let feed = null;
          let shown = 0;
          // A browser gives up for good on any answer but 200, such as that of a database which is away for a moment.
          const listen = () => {
            feed = new EventSource(address);
            feed.addEventListener("open", () => { state.textContent = shown ? `${shown} since you opened the page.` : "Listening. The newest events first."; });
            feed.addEventListener("accepted", show(false));
            feed.addEventListener("refused", show(true));
            feed.addEventListener("error", () => {
              if (feed.readyState !== EventSource.CLOSED) return;
              state.textContent = "The connection has ended, and is tried again every few seconds. If you were signed out, reload the page.";
              setTimeout(listen, 3000);
            });
          };
          const show = refused => event => {
            if (event.lastEventId) address.searchParams.set("position", event.lastEventId);
            const line = document.createElement("li");
            line.textContent = event.data;
            if (refused) line.className = "refused";
            list.prepend(line);
            while (list.children.length > most) list.lastElementChild.remove();
            shown += 1;
            state.textContent = `${shown} since you opened the page.`;
            check();
          };
          // The check list is read anew after events came, at most every two seconds.
          let pending = null;
          const check = () => {
            pending ??= setTimeout(async () => {
              pending = null;
              const old = document.getElementById("checks");
              if (!old) return;
              const answer = await fetch(location.href, {headers: {accept: "text/html"}}).catch(() => null);
              if (!answer?.ok) return;
              const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("checks");
              if (fresh) old.replaceWith(fresh);
            }, 2000);
          };
          addEventListener("pagehide", () => feed.close());
          listen();
        }

        """#
}
