// Starts and kills Kosumi as a server for tests.

import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

// Starts the program and waits for the address of its page.
export async function start(program, args, options = {}) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"], ...options });
  // The process must not outlive a failing test.
  process.on("exit", () => child.kill("SIGKILL"));
  const ended = new Promise(resolve => child.once("exit", resolve));
  const lines = createInterface({ input: child.stdout });
  const url = await Promise.race([
    new Promise(resolve => lines.on("line", line => { if (line.startsWith("http://")) resolve(line.trim()); })),
    ended.then(code => { throw new Error(`the server has ended with ${code}`); }),
  ]);
  return {
    url,
    child,
    // Ends the process like a crash or a power failure.
    kill: () => { child.kill("SIGKILL"); return ended; },
    isAlive: () => child.exitCode === null && child.signalCode === null,
    // Returns the child processes of the server, if the system lists them.
    children: () => readdirSync("/proc").filter(name => /^\d+$/.test(name)).filter(name => {
      try {
        return readFileSync(`/proc/${name}/stat`, "utf8").split(") ").at(-1).split(" ")[1] === String(child.pid);
      } catch {
        return false;
      }
    }).map(Number),
  };
}
