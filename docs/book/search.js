// SPDX-License-Identifier: Apache-2.0
// The search of a site that is opened from a disk, where a browser neither fetches the index nor starts a worker: the index
// comes as a script (see hooks.py), and what would be a worker runs in a frame.
if (location.protocol === "file:") {
  const index = new URL("../search/search_index.js", document.currentScript.src);

  window.__search = {
    index: new Promise((loaded) => {
      const script = document.createElement("script");
      script.src = index;
      script.onload = () => loaded(window.search_index);
      document.head.append(script);
    }),
  };

  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.ready = new Promise((loaded) => {
        const script = inside.document.createElement("script");
        script.src = url;
        script.onload = loaded;
        inside.document.body.append(script);
      });
      this.inside = inside;
    }
    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
