// The engine in its worker, for the page.
const folder = new URL(".", import.meta.url);

/** The WebAssembly code, loaded and compiled once for all workers. */
const code = WebAssembly.compileStreaming(fetch(new URL("engine.wasm", folder)))
                 .catch(
                     // A server that does not know the type of the file.
                     async () => WebAssembly.compile(await (await fetch(new URL("engine.wasm", folder))).arrayBuffer()),
                 );

class Engine {
  constructor() {
    this.waiting = new Map();
    this.next = 0;
    this.start();
  }
  start() {
    const worker = new Worker(new URL("worker.js", folder));
    this.worker = worker;
    worker.onmessage = ({data}) => {
      const call = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if (data.error === undefined)
        call?.resolve(data.answer);
      else
        call?.reject(new Error(data.error));
      if (data.ended) this.restart();
    };
    worker.onerror = (event) => this.fail(event.message || "the engine does not load");
    code.then(
        (module) => worker.postMessage({module}), (error) => this.fail(`the engine does not load: ${error.message}`));
  }
  fail(message) {
    for (const {reject} of this.waiting.values()) reject(new Error(message));
    this.waiting.clear();
  }
  /** Ends the work in progress: all calls that wait are refused, and the engine has no program. */
  restart() {
    this.worker.terminate();
    this.fail("stopped");
    this.start();
  }
  /** The answer to a call of worker.js. */
  call(call, values = {}) {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, {resolve, reject});
      this.worker.postMessage({id, call, values});
    });
  }
}
export const engine = new Engine();
