// Terraform: four resources of a plan, applied, read again and destroyed.

package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/allocations"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/ports"
)

// resources are what a plan with all four resources of the Ironic provider has made.
type resources struct {
	*walker
	ctx        context.Context
	given      setting
	node       string
	port       string
	allocation string
}

// walkTerraform applies and destroys a plan of ironic_node_v1, ironic_port_v1, ironic_allocation_v1 and
// ironic_deployment by the requests that the provider sends for them. The provider itself cannot be had here
// (docs/clients.md); it sends all of them through this same library, at the microversion that its settings name.
func walkTerraform(ctx context.Context, w *walker, given setting) {
	r := &resources{walker: w, ctx: ctx, given: given}
	apply := r.does("create ironic_node_v1", r.makeNode) && r.does("create ironic_port_v1", r.makePort) &&
		r.does("create ironic_allocation_v1", r.makeAllocation) && r.does("create ironic_deployment", r.makeDeployment)
	if !apply {
		return
	}
	r.does("plan again: nothing differs", r.unchanged)
	_ = r.does("destroy ironic_deployment", r.endDeployment) && r.does("destroy ironic_allocation_v1", r.endAllocation) &&
		r.does("destroy ironic_port_v1", r.endPort) && r.does("destroy ironic_node_v1", r.endNode)
}

// makeNode has manage, inspect, clean and available set, so it goes through all of them.
func (r *resources) makeNode() error {
	made, err := nodes.Create(r.ctx, r.api, nodes.CreateOpts{
		Name: r.given.Name, Driver: r.given.Driver, DriverInfo: r.given.DriverInfo, ResourceClass: r.given.ResourceClass,
		Properties: map[string]any{"cpus": "4", "root_device": map[string]any{}}, Extra: map[string]any{"rack": "12"},
	}).Extract()
	if err != nil {
		return err
	}
	r.node = made.UUID
	for _, turn := range []struct {
		target nodes.TargetProvisionState
		state  nodes.ProvisionState
	}{{nodes.TargetManage, nodes.Manageable}, {nodes.TargetInspect, nodes.Manageable}} {
		if err := r.goes(nodes.ProvisionStateOpts{Target: turn.target}, turn.state); err != nil {
			return err
		}
	}
	// A machine that does nothing has no ramdisk that could clean it by itself.
	off := nodes.UpdateOperation{Op: nodes.AddOp, Path: "/automated_clean", Value: false}
	if _, err := nodes.Update(r.ctx, r.api, r.node, nodes.UpdateOpts{off}).Extract(); err != nil {
		return err
	}
	steps := []nodes.CleanStep{{Interface: nodes.InterfaceRAID, Step: "delete_configuration"}}
	if err := r.goes(nodes.ProvisionStateOpts{Target: nodes.TargetClean, CleanSteps: steps}, nodes.Manageable); err != nil {
		return err
	}
	if err := r.goes(nodes.ProvisionStateOpts{Target: nodes.TargetProvide}, nodes.Available); err != nil {
		return err
	}
	return nodes.ChangePowerState(r.ctx, r.api, r.node, nodes.PowerStateOpts{Target: nodes.PowerOff}).ExtractErr()
}

func (r *resources) goes(opts nodes.ProvisionStateOpts, state nodes.ProvisionState) error {
	err := nodes.ChangeProvisionState(r.ctx, r.api, r.node, opts).ExtractErr()
	if err == nil {
		err = r.reaches(r.ctx, r.node, state)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", opts.Target, err)
	}
	return nil
}

func (r *resources) makePort() error {
	// The power change that ends the node's creation is not waited for.
	if err := r.reaches(r.ctx, r.node, nodes.Available); err != nil {
		return err
	}
	enabled := true
	made, err := ports.Create(r.ctx, r.api, ports.CreateOpts{NodeUUID: r.node, Address: r.given.MAC, PXEEnabled: &enabled, PhysicalNetwork: "provisioning"}).Extract()
	if err == nil {
		r.port = made.UUID
	}
	return err
}

func (r *resources) makeAllocation() error {
	made, err := allocations.Create(r.ctx, r.api, allocations.CreateOpts{
		Name: r.given.Name + "-allocation", ResourceClass: r.given.ResourceClass, CandidateNodes: []string{r.node}, Extra: map[string]string{"for": "web"},
	}).Extract()
	if err != nil {
		return err
	}
	r.allocation = made.UUID
	for r.ctx.Err() == nil {
		found, err := allocations.Get(r.ctx, r.api, r.allocation).Extract()
		if err != nil {
			return err
		}
		if found.State != "allocating" {
			return same("state and node", []string{found.State, found.NodeUUID}, []string{"active", r.node})
		}
		time.Sleep(pause)
	}
	return r.ctx.Err()
}

// makeDeployment sends a ready-made config drive: below 1.56 there is no other.
func (r *resources) makeDeployment() error {
	info := map[string]any{"image_source": imageURL, "image_checksum": imageHash, "root_gb": "25", "capabilities": "boot_option:local"}
	update := nodes.UpdateOperation{Op: nodes.AddOp, Path: "/instance_info", Value: info}
	if _, err := nodes.Update(r.ctx, r.api, r.node, nodes.UpdateOpts{update}).Extract(); err != nil {
		return err
	}
	drive := base64.StdEncoding.EncodeToString([]byte("a gzipped image of a file system"))
	return r.goes(nodes.ProvisionStateOpts{Target: nodes.TargetActive, ConfigDrive: &drive}, nodes.Active)
}

// unchanged reads everything as a plan does, and compares it with what was written.
func (r *resources) unchanged() error {
	node, err := nodes.Get(r.ctx, r.api, r.node).Extract()
	if err != nil {
		return err
	}
	written := []any{r.given.Name, r.given.Driver, r.given.ResourceClass, map[string]any{"rack": "12"}, r.given.DriverInfo, "4", string(nodes.Active)}
	read := []any{node.Name, node.Driver, node.ResourceClass, node.Extra, node.DriverInfo, node.Properties["cpus"], node.ProvisionState}
	if err := same("node", read, written); err != nil {
		return err
	}
	port, err := ports.Get(r.ctx, r.api, r.port).Extract()
	if err != nil {
		return err
	}
	if err := same("port", []any{port.Address, port.NodeUUID, port.PXEEnabled, port.PhysicalNetwork}, []any{r.given.MAC, r.node, true, "provisioning"}); err != nil {
		return err
	}
	allocation, err := allocations.Get(r.ctx, r.api, r.allocation).Extract()
	if err != nil {
		return err
	}
	return same("allocation", []any{allocation.CandidateNodes, allocation.Extra}, []any{[]string{r.node}, map[string]string{"for": "web"}})
}

func (r *resources) endDeployment() error {
	return r.goes(nodes.ProvisionStateOpts{Target: nodes.TargetDeleted}, nodes.Available)
}

// endAllocation finds that the deployment's end took it along, which the provider takes for done.
func (r *resources) endAllocation() error {
	err := allocations.Get(r.ctx, r.api, r.allocation).Err
	if gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
		return nil
	}
	return allocations.Delete(r.ctx, r.api, r.allocation).ExtractErr()
}

func (r *resources) endPort() error { return ports.Delete(r.ctx, r.api, r.port).ExtractErr() }

func (r *resources) endNode() error { return nodes.Delete(r.ctx, r.api, r.node).ExtractErr() }
