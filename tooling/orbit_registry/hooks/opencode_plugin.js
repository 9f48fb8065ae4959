// Shows an agent in OpenCode the records that apply to what it does: it asks Orbit's hook, and adds what that answers.
// Written by `orbit hook install opencode`, which replaces it; no change of yours is kept.
import { spawn } from "node:child_process"

const COMMAND = "ORBIT_COMMAND"
const PATIENCE_MS = 2000

let child // answers one call after the other, a line each; it ends with OpenCode, or where a call took too long
const waiting = []

const lose = (one) => {
  if (child !== one) return
  child = undefined
  one.stdin.destroy() // by which it ends, should it still be there
  for (const done of waiting.splice(0)) done({})
}

const start = (cwd) => {
  const env = { ...process.env, ORBIT_HOOK_STAYS: "1" }
  const one = spawn("/bin/sh", ["-c", COMMAND], { cwd, env, stdio: ["pipe", "pipe", "ignore"] })
  let said = ""
  for (const source of [one, one.stdin]) source.on("error", () => lose(one)).on("close", () => lose(one))
  one.stdout.setEncoding("utf8").on("data", (part) => {
    const lines = (said + part).split("\n")
    said = lines.pop()
    for (const line of lines) {
      try {
        waiting.shift()?.(line ? JSON.parse(line) : {})
      } catch {
        lose(one)
      }
    }
  })
  for (const source of [one, one.stdin, one.stdout]) source.unref?.()
  return one
}

// Resolves to the hook's answer; to an empty one whatever goes wrong, for a tool must not wait or fail because of us.
const ask = (cwd, call) =>
  new Promise((done) => {
    const one = (child ??= start(cwd))
    const clock = setTimeout(() => (one.kill("SIGKILL"), lose(one)), PATIENCE_MS)
    waiting.push((answer) => (clearTimeout(clock), done(answer)))
    one.stdin.write(`${JSON.stringify({ cwd, ...call })}\n`)
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
