/** Tools that a JavaScript project names in its own dependencies, and that runners start by name: small, for every start. */

export const projectTools: ReadonlySet<string> = new Set(
  (
    'eslint eslint_d oxlint xo standard tsc tsgo vue-tsc svelte-check prettier prettierd biome dprint jest vitest mocha ava tap jasmine ' +
    'playwright cypress wdio testcafe webpack vite rollup esbuild parcel tsup tsdown rspack swc rolldown babel stylelint turbo lerna nx ' +
    'rush madge depcheck knip npm-check-updates ncu syncpack rimraf prisma drizzle-kit storybook typedoc astro next nuxt remix expo ng ' +
    'changeset commitlint lint-staged size-limit publint attw api-extractor tailwindcss postcss sass markdownlint cspell ts-node tsx ' +
    'nodemon wrangler vercel netlify firebase serverless cdk'
  ).split(' '),
)
