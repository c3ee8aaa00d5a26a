// Drives an Ironic API the way programs written in Go do, all of them through gophercloud.
//
// Usage: clients <walk>, where the walk is one of the table below. What it needs to know arrives as JSON on standard
// input (type setting); what came of it leaves as one JSON object on standard output (type outcome). Exit status 1 means
// that something went otherwise than a client expects.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// setting is what a walk is told: where the API is, how to sign in, and which machine to work on.
type setting struct {
	// Auth is one of noauth, http_basic, keystone.
	Auth     string `json:"auth"`
	Endpoint string `json:"endpoint"`
	Username string `json:"username"`
	Password string `json:"password"`
	// IdentityURL, with /v3, is used with keystone only.
	IdentityURL string `json:"identity_url"`
	// Microversion is asked for by every request; walks that choose by themselves, as their original does, ignore it.
	Microversion string `json:"microversion"`
	// Name is what the node is to be called.
	Name       string         `json:"name"`
	Driver     string         `json:"driver"`
	DriverInfo map[string]any `json:"driver_info"`
	MAC        string         `json:"mac"`
	// InstanceUUID is what the client calls what it deploys, where it says so.
	InstanceUUID  string `json:"instance_uuid"`
	ResourceClass string `json:"resource_class"`
	// BootInterface is how the machine starts its ramdisk; by virtual media when empty.
	BootInterface string `json:"boot_interface"`
	// Hosts are further ones, which are enrolled and removed again.
	Hosts []enrolled `json:"hosts"`
}

// outcome is what a walk answers with.
type outcome struct {
	// Calls counts the HTTP requests to the bare-metal API.
	Calls int   `json:"calls"`
	Ms    int64 `json:"ms"`
	// Steps are those that went as expected, in order, each once.
	Steps  []string `json:"steps"`
	Failed []string `json:"failed"`
	// Stages tell how long each part of a life took, where a walk has such parts.
	Stages []string `json:"stages,omitempty"`
	// Requests are method, path without ids, and status, each kind once.
	Requests []string `json:"requests"`
}

var walks = map[string]func(context.Context, *walker, setting){
	"gophercloud":    walkGophercloud,
	"metal3":         walkMetal3,
	"metal3-schemes": walkMetal3Schemes,
	"terraform":      walkTerraform,
}

// limit is far above what any walk needs: only what never ends fails.
const limit = 4 * time.Minute

func main() {
	if len(os.Args) != 2 || walks[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: clients gophercloud|metal3|metal3-schemes|terraform < setting.json")
		os.Exit(2)
	}
	var given setting
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		fmt.Fprintln(os.Stderr, "the setting is not JSON:", err)
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	walk := &walker{}
	started := time.Now()
	if walk.signIn(ctx, given) {
		walks[os.Args[1]](ctx, walk, given)
	}
	told := walk.outcome()
	told.Ms = time.Since(started).Milliseconds()
	_ = json.NewEncoder(os.Stdout).Encode(told)
	if len(told.Failed) > 0 {
		os.Exit(1)
	}
}
