// Renders the template of examples/kubernetes/chart as helm does, with Go's own template engine and helm's functions:
// go run render.go CHART RELEASE [NAME=VALUE…]
package main

import (
	"bufio"
	"os"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
)

func main() {
	chart, release := os.Args[1], os.Args[2]
	values := map[string]string{}
	file, err := os.Open(chart + "/values.yaml")
	if err != nil {
		panic(err)
	}
	// The values of this chart are flat texts.
	for lines := bufio.NewScanner(file); lines.Scan(); {
		name, value, found := strings.Cut(lines.Text(), ": ")
		if found && !strings.HasPrefix(name, "#") {
			values[name] = strings.Trim(value, `"`)
		}
	}
	for _, given := range os.Args[3:] {
		name, value, _ := strings.Cut(given, "=")
		if _, known := values[name]; !known {
			panic("there is no value " + name)
		}
		values[name] = value
	}
	parsed, err := template.New("cordon.yaml").Funcs(sprig.TxtFuncMap()).Option("missingkey=error").ParseFiles(chart + "/templates/cordon.yaml")
	if err != nil {
		panic(err)
	}
	data := map[string]any{"Values": values, "Release": map[string]string{"Name": release}}
	if err := parsed.Execute(os.Stdout, data); err != nil {
		panic(err)
	}
}
