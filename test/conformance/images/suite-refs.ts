/** Where Kubernetes' suites have most of their images (test/utils/image/manifest.go). */
export const SUITE = 'registry.k8s.io/e2e-test-images';
