// Calls the hooks of a plugin in their order, as OpenCode does, and prints what each left in its output.
import { readFileSync } from "node:fs"

const [plugin, root, sequence] = process.argv.slice(2)
const shown = []
const client = { tui: { showToast: async ({ body }) => shown.push(body) } }
const loaded = await import(plugin)
const hooks = await Object.values(loaded)[0]({ client, directory: root, worktree: root, project: {} })
const outputs = []
for (const [name, input, output] of JSON.parse(readFileSync(sequence, "utf8").replaceAll("ROOT", root))) {
  await hooks[name](input, output)
  outputs.push(output)
}
console.log(JSON.stringify({ exports: Object.keys(loaded), outputs, shown }))
