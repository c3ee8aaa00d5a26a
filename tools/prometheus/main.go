// Reads files of Prometheus' rules as Prometheus itself does, templates of annotations and labels included.
// It prints {"rules": number, "faults": [text]}.
package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

type verdict struct {
	Rules  int      `json:"rules"`
	Faults []string `json:"faults"`
}

func main() {
	found := verdict{Faults: []string{}}
	silent := slog.New(slog.NewTextHandler(io.Discard, nil))
	promql := parser.NewParser(parser.Options{})
	for _, file := range os.Args[1:] {
		groups, faults := rulefmt.ParseFile(file, false, model.LegacyValidation, promql, silent)
		for _, fault := range faults {
			found.Faults = append(found.Faults, fault.Error())
		}
		if groups == nil {
			continue
		}
		for _, group := range groups.Groups {
			found.Rules += len(group.Rules)
		}
	}
	if json.NewEncoder(os.Stdout).Encode(found) != nil {
		os.Exit(1)
	}
}
