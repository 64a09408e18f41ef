/// What makes the pages nicer: copying SQL and links, finding names while somebody types, a sign that a page is being
/// read, and Live without reading the page anew. Everything works without it.
enum LookScript {
    static let address = "/look.js?v=" + LookStyle.version(of: text)

    static let text = #"""
        "use strict";
        const copying = (place, name, text) => {
          const button = document.createElement("button");
          button.type = "button";
          button.className = "copy";
          button.textContent = name;
          button.addEventListener("click", async () => {
            try {
              await navigator.clipboard.writeText(text());
              button.textContent = "Copied";
            } catch {
              getSelection().selectAllChildren(place);
              button.textContent = "Selected: press Ctrl-C";
            }
          });
          place.after(button);
        };
        const copySQL = () => {
          for (const sql of document.querySelectorAll(".sql pre")) {
            if (!sql.nextElementSibling) copying(sql, "Copy", () => sql.textContent);
          }
        };
        copySQL();
        for (const link of document.querySelectorAll(".exactly a")) copying(link, "Copy link", () => link.href);

        // On a phone the tab of this page may be beyond the edge.
        document.querySelector("body > nav [aria-current]")?.scrollIntoView({block: "nearest", inline: "center"});

        // What is looked for in a list is found while somebody types; the form does the same by itself.
        for (const form of document.querySelectorAll("form[role=search]")) {
          const address = () => {
            const fields = new URLSearchParams(new FormData(form));
            return `${form.getAttribute("action")}?${fields}`;
          };
          if (form.getAttribute("action") !== location.pathname) continue;
          let pending = null;
          let asking = null;
          const find = async () => {
            asking?.abort();
            asking = new AbortController();
            const wanted = address();
            const answer = await fetch(wanted, {headers: {accept: "text/html"}, signal: asking.signal}).catch(() => null);
            if (answer?.status !== 200) return;
            const page = new DOMParser().parseFromString(await answer.text(), "text/html");
            const fresh = page.querySelector("form[role=search]");
            if (!fresh || wanted !== address()) return;
            const rest = from => { const nodes = []; for (let at = from.nextSibling; at; at = at.nextSibling) nodes.push(at); return nodes; };
            for (const node of rest(form)) node.remove();
            form.after(...rest(fresh));
            copySQL();
            history.replaceState(null, "", wanted);
            for (const link of document.querySelectorAll(".exactly a")) link.href = page.querySelector(".exactly a")?.href ?? link.href;
          };
          form.addEventListener("input", () => {
            clearTimeout(pending);
            pending = setTimeout(find, 250);
          });
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
