// Shows an agent in OpenCode the records that apply to what it does: it asks Orbit's hook, and adds what that answers.
// Written by `orbit hook install opencode`, which replaces it and your changes to it.
import { spawn } from "node:child_process"

const COMMAND = "ORBIT_COMMAND"
const PATIENCE_MS = 2000

// Resolves to the hook's answer; to an empty one whatever goes wrong, for a tool must not wait or fail because of us.
const ask = (cwd, call) =>
  new Promise((done) => {
    const hook = spawn("/bin/sh", ["-c", COMMAND], { cwd, stdio: ["pipe", "pipe", "ignore"], timeout: PATIENCE_MS, killSignal: "SIGKILL" })
    let answer = ""
    hook.stdout.setEncoding("utf8").on("data", (part) => (answer += part))
    hook.stdin.on("error", () => {}) // a hook that ends early reads nothing; what it printed still counts
    hook.on("error", () => done({})).on("close", () => {
      try {
        done(JSON.parse(answer))
      } catch {
        done({})
      }
    })
    hook.stdin.end(JSON.stringify({ cwd, ...call }))
  })

export const OrbitPlugin = async ({ client, directory }) => {
  const held = new Map() // session → what was said at its start and to its prompts: its system text has it
  const hold = (session, text) => text && held.set(session, [...(held.get(session) ?? []), text])
  const begin = async (session) => {
    if (held.get(session)) return
    const source = held.has(session) ? "resume" : "startup" // it is null after a compaction
    held.set(session, [])
    const { context, message } = await ask(directory, { event: "session-start", session, source })
    hold(session, context)
    if (message) await client?.tui?.showToast?.({ body: { message, variant: "info" } })?.catch?.(() => {})
  }
  return {
    "chat.message": async ({ sessionID: session, agent }, { parts }) => {
      await begin(session)
      const text = (parts ?? []).filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n")
      hold(session, (await ask(directory, { event: "prompt", session, agent, text })).context)
    },
    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      output.system.push(...(held.get(sessionID) ?? []))
    },
    "shell.env": async ({ sessionID }, output) => {
      if (sessionID) output.env.ORBIT_SESSION_ID = sessionID
    },
    "tool.execute.after": async ({ tool, sessionID: session, args: input }, output) => {
      const { context } = await ask(directory, { event: "tool-done", session, tool, input })
      if (context && typeof output.output === "string") output.output += `\n\n${context}`
    },
    "experimental.session.compacting": async ({ sessionID: session }) => {
      held.set(session, null)
      await ask(directory, { event: "compaction", session })
    },
  }
}
