/** Effects of the command lines of code forges. */

export const forgeEffects: string = `
local        | gh auth, gh config, gh alias, gh completion, gh help, gh extension, glab auth, glab config, glab alias, glab completion, glab help | |
remote-read  | gh pr view, gh pr list, gh pr diff, gh pr checks, gh pr status, gh pr checkout, gh issue view, gh issue list, gh issue status | | reads from the forge
remote-read  | gh repo view, gh repo list, gh repo clone, gh run view, gh run list, gh run watch, gh run download, gh release view, gh release list, gh release download | | reads from the forge
remote-read  | gh workflow view, gh workflow list, gh search, gh gist view, gh gist list, gh gist clone, gh label list, gh cache list, gh secret list, gh variable list, gh variable get | | reads from the forge
remote-read  | gh project view, gh project list, gh project item-list, gh project field-list, gh ruleset, gh org list, gh status, gh attestation, gh browse, gh ssh-key list, gh gpg-key list, gh licenses, gh repo autolink list | | reads from the forge
remote-write | gh pr, gh issue, gh repo, gh run, gh release, gh workflow, gh gist, gh label, gh cache, gh secret, gh variable, gh project, gh ssh-key, gh gpg-key, gh codespace, gh cs, gh api | | changes something at the forge
destructive  | gh ruleset delete, gh repo delete, gh release delete, gh issue delete, gh gist delete, gh run delete, gh cache delete, gh label delete, gh secret delete, gh variable delete, gh project delete, gh codespace delete, gh release delete-asset | | deletes something at the forge
remote-read  | glab mr view, glab mr list, glab mr diff, glab mr checkout, glab mr issues, glab mr approvers, glab issue view, glab issue list, glab repo view, glab repo clone, glab repo list, glab repo search | | reads from the forge
remote-read  | glab ci view, glab ci list, glab ci status, glab ci get, glab ci trace, glab ci lint, glab release view, glab release list, glab release download, glab label list, glab variable list, glab variable get, glab snippet view, glab pipeline list | | reads from the forge
remote-write | glab mr, glab issue, glab repo, glab ci, glab release, glab label, glab variable, glab snippet, glab pipeline, glab api, glab ssh-key, glab schedule | | changes something at the forge
destructive  | glab mr delete, glab issue delete, glab repo delete, glab release delete, glab label delete, glab variable delete, glab ci delete | | deletes something at the forge
remote-write | hub pull-request, hub create, hub fork, hub release create, hub issue create, hub merge, hub push, hub sync, hub delete, tea, jira, linear | | changes something at the forge
`
