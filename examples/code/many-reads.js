// For code_exec: one program, many guarded calls, one answer.
const { data } = await tools.glob('**/*.md')
const files = data.matches
const sizes = []
for (const path of files.slice(0, 20)) {
  const { text } = await tools.read(path)
  sizes.push({ path, words: text.split(/\s+/).length })
}
sizes.sort((a, b) => b.words - a.words)
sizes.slice(0, 3)
