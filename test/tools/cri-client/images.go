package main

import (
	"errors"
	"fmt"
	"slices"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func (c *checker) checkImagePresence() string {
	spec := &cri.ImageSpec{Image: c.image, UserSpecifiedImage: c.image}
	ref := c.image
	if c.present {
		c.skip("PullImage")
	} else {
		c.call("PullImage", c.image, func() (answer string, err error) {
			ref, err = c.images.PullImage(c.ctx, spec, nil, c.sandboxConfig("a"))
			return ref, err
		})
	}
	c.call("ImageStatus", "present", func() (string, error) {
		s, err := c.images.ImageStatus(c.ctx, spec, true)
		if err != nil {
			return "", err
		}
		i := s.GetImage()
		return done(i.GetId(), want(i.GetId() != "", "no id"), want(i.GetSize() > 0, "no size"),
			want(slices.Contains(i.GetRepoTags(), c.image), "tags %v without %s", i.GetRepoTags(), c.image))
	})
	c.call("ImageStatus", "by the reference that PullImage gave", func() (string, error) {
		s, err := c.images.ImageStatus(c.ctx, &cri.ImageSpec{Image: ref}, false)
		if err != nil {
			return "", err
		}
		return done(s.GetImage().GetId(), want(s.Image != nil, "no image"))
	})
	c.call("ImageStatus", "absent", func() (string, error) {
		s, err := c.images.ImageStatus(c.ctx, &cri.ImageSpec{Image: "example.org/absent:none"}, false)
		if err != nil {
			return "", err
		}
		return done("nothing", want(s.Image == nil, "got %v", s.Image))
	})
	c.call("ListImages", "all", func() (string, error) {
		all, err := c.images.ListImages(c.ctx, nil)
		return done(fmt.Sprint(len(all)), err, want(len(all) > 0, "none"))
	})
	c.call("ListImages", "one by name", func() (string, error) {
		some, err := c.images.ListImages(c.ctx, &cri.ImageFilter{Image: spec})
		return done(fmt.Sprint(len(some)), err, want(len(some) == 1 || c.lenient, "%d images", len(some)))
	})
	c.call("ListImages", "absent name", func() (string, error) {
		none, err := c.images.ListImages(c.ctx, &cri.ImageFilter{Image: &cri.ImageSpec{Image: "example.org/absent:none"}})
		return done(fmt.Sprint(len(none)), err, want(len(none) == 0 || c.lenient, "%d images", len(none)))
	})
	c.call("ImageFsInfo", "", func() (string, error) {
		info, err := c.images.ImageFsInfo(c.ctx)
		if err != nil {
			return "", err
		}
		if len(info.ImageFilesystems) == 0 {
			return "", errors.New("no image filesystem")
		}
		f := info.ImageFilesystems[0]
		return done(f.GetFsId().GetMountpoint(), want(f.GetFsId().GetMountpoint() != "", "no mountpoint"),
			want(f.GetTimestamp() > 0, "no timestamp"), want(f.UsedBytes != nil, "no used bytes"))
	})
	return ref
}

func (c *checker) checkImageRemoval() {
	if c.present {
		c.skip("RemoveImage")
		return
	}
	spec := &cri.ImageSpec{Image: c.image}
	for _, what := range []string{"present", "absent"} {
		c.call("RemoveImage", what, func() (string, error) { return "gone", c.images.RemoveImage(c.ctx, spec) })
	}
	c.call("ImageStatus", "removed", func() (string, error) {
		s, err := c.images.ImageStatus(c.ctx, spec, false)
		if err != nil {
			return "", err
		}
		return done("nothing", want(s.Image == nil, "got %v", s.Image))
	})
}
