// The library: ports and allocations.

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/allocations"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/ports"
)

func (w *walker) ports(ctx context.Context, given setting, node string) {
	enabled := true
	var port string
	if !w.does("ports.Create", func() error {
		made, err := ports.Create(ctx, w.api, ports.CreateOpts{
			NodeUUID: node, Address: given.MAC, PXEEnabled: &enabled, PhysicalNetwork: "provisioning",
			LocalLinkConnection: map[string]any{"switch_id": "0a:1b:2c:3d:4e:5f", "port_id": "Ethernet1/1", "switch_info": "tor-1"},
		}).Extract()
		if err == nil {
			port = made.UUID
		}
		return err
	}) {
		return
	}
	w.does("ports.Get", func() error {
		found, err := ports.Get(ctx, w.api, port).Extract()
		if err != nil {
			return err
		}
		return same("address and node", []string{found.Address, found.NodeUUID}, []string{given.MAC, node})
	})
	w.does("ports.List", func() error {
		page, err := ports.List(w.api, ports.ListOpts{Address: given.MAC, Fields: []string{"node_uuid", "uuid", "address"}}).AllPages(ctx)
		if err != nil {
			return err
		}
		found, err := ports.ExtractPorts(page)
		if err == nil && (len(found) != 1 || found[0].NodeUUID != node) {
			err = fmt.Errorf("found %s", shown(found))
		}
		return err
	})
	w.does("ports.ListDetail", func() error {
		page, err := ports.ListDetail(w.api, ports.ListOpts{NodeUUID: node}).AllPages(ctx)
		if err != nil {
			return err
		}
		found, err := ports.ExtractPorts(page)
		if err == nil && (len(found) != 1 || found[0].PhysicalNetwork != "provisioning") {
			err = fmt.Errorf("found %s", shown(found))
		}
		return err
	})
	w.does("ports.Update", func() error {
		changed, err := ports.Update(ctx, w.api, port, ports.UpdateOpts{
			ports.UpdateOperation{Op: ports.ReplaceOp, Path: "/extra", Value: map[string]any{"cable": "blue"}},
		}).Extract()
		if err != nil {
			return err
		}
		return same("extra", changed.Extra, map[string]any{"cable": "blue"})
	})
	w.does("ports.Delete", func() error {
		second, err := ports.Create(ctx, w.api, ports.CreateOpts{NodeUUID: node, Address: nextTo(given.MAC)}).Extract()
		if err != nil {
			return err
		}
		return ports.Delete(ctx, w.api, second.UUID).ExtractErr()
	})
}

// nextTo answers with an address of the same vendor that nothing here has.
func nextTo(mac string) string { return mac[:9] + "fe" + mac[11:] }

// allocated asks for a node of the class, waits until it has one, and answers with the allocation's name.
func (w *walker) allocated(ctx context.Context, given setting, node, name string) {
	w.does("allocations.Create", func() error {
		made, err := allocations.Create(ctx, w.api, allocations.CreateOpts{
			Name: name, ResourceClass: given.ResourceClass, CandidateNodes: []string{node}, Extra: map[string]string{"for": "web"},
		}).Extract()
		if err != nil {
			return err
		}
		return same("state", made.State, "allocating")
	})
	w.does("allocations.Get", func() error {
		for {
			found, err := allocations.Get(ctx, w.api, name).Extract()
			if err != nil {
				return err
			}
			if found.State == "active" {
				return same("node", found.NodeUUID, node)
			}
			if found.State != "allocating" || ctx.Err() != nil {
				return fmt.Errorf("%s: %s", found.State, found.LastError)
			}
			time.Sleep(pause)
		}
	})
	w.does("allocations.List", func() error {
		page, err := allocations.List(w.api, allocations.ListOpts{Node: node, State: "active"}).AllPages(ctx)
		if err != nil {
			return err
		}
		found, err := allocations.ExtractAllocations(page)
		if err == nil && (len(found) != 1 || found[0].Name != name) {
			err = fmt.Errorf("found %s", shown(found))
		}
		return err
	})
}
