/** What the pages of the site do in a browser: search, theme, menu, copy. */

const root = document.currentScript.dataset.root
const find = (selector) => document.querySelector(selector)
const field = find('#search')
const results = find('#results')

/** The index is a script, so that it also loads from a folder. */
let index
const loadIndex = () => {
  index ??= new Promise((resolve) => {
    const script = document.createElement('script')
    script.src = `${root}/search-index.js`
    script.onload = () => resolve(window.searchIndex)
    document.head.append(script)
  })
  return index
}

/** A heading counts most, then the page's title, then the text. Every word must occur. */
function score({ heading, page, text }, words) {
  let sum = 0
  for (const word of words) {
    const found = [heading, page, text].map((part) => part.toLowerCase().indexOf(word))
    if (found.every((at) => at < 0)) return 0
    sum += (found[0] >= 0 ? 8 : 0) + (found[0] === 0 ? 4 : 0) + (found[1] >= 0 ? 3 : 0) + (found[2] >= 0 ? 1 : 0)
  }
  return sum
}

function excerpt(text, words) {
  const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 40)
  return `${at > 0 ? '… ' : ''}${text.slice(at, at + 140)} …`
}

async function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) {
    results.hidden = true
    return
  }
  const entries = await loadIndex()
  const found = entries
    .map((entry) => ({ entry, points: score(entry, words) }))
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points)
    .slice(0, 12)
  results.replaceChildren(
    ...(found.length === 0 ? [Object.assign(document.createElement('li'), { textContent: 'Nothing found.' })] : []),
    ...found.map(({ entry }) => {
      const item = document.createElement('li')
      const link = Object.assign(document.createElement('a'), { href: `${root}/${entry.url}` })
      const title = entry.heading === entry.page ? entry.page : `${entry.page} › ${entry.heading}`
      link.append(
        Object.assign(document.createElement('strong'), { textContent: title }),
        Object.assign(document.createElement('span'), { textContent: excerpt(entry.text, words) }),
      )
      item.append(link)
      return item
    }),
  )
  results.hidden = false
}

field.addEventListener('input', search)
field.addEventListener('focus', loadIndex)
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && !/^(?:INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
    event.preventDefault()
    field.focus()
  }
  if (event.key === 'Escape') {
    results.hidden = true
    find('#sidebar').classList.remove('open')
  }
  if (!results.hidden && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
    event.preventDefault()
    const links = [...results.querySelectorAll('a')]
    const at = links.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1)
    ;(links[at] ?? field).focus()
  }
  if (event.key === 'Enter' && document.activeElement === field) results.querySelector('a')?.click()
})
document.addEventListener('click', (event) => {
  if (!event.target.closest('.search')) results.hidden = true
})
results.addEventListener('click', () => {
  results.hidden = true
})

find('.theme').addEventListener('click', () => {
  const dark = getComputedStyle(document.documentElement).colorScheme === 'dark'
  document.documentElement.dataset.theme = dark ? 'light' : 'dark'
  try {
    localStorage.setItem('theme', document.documentElement.dataset.theme)
  } catch {
    // Without storage the choice lasts for this page.
  }
})

find('.menu').addEventListener('click', (event) => {
  const open = find('#sidebar').classList.toggle('open')
  event.currentTarget.setAttribute('aria-expanded', String(open))
})
find('#sidebar [aria-current]')?.scrollIntoView({ block: 'center' })

for (const button of document.querySelectorAll('.copy')) {
  button.addEventListener('click', async () => {
    const code = button.parentElement.querySelector('code').textContent
    await navigator.clipboard.writeText(code.replace(/^\$ /gm, ''))
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 1_500)
  })
}

const links = new Map([...document.querySelectorAll('.contents a')].map((link) => [link.hash.slice(1), link]))
const seen = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue
      for (const [id, link] of links) link.classList.toggle('now', id === target.id)
    }
  },
  { rootMargin: '-60px 0px -75% 0px' },
)
for (const id of links.keys()) seen.observe(document.getElementById(id))
