import { useEffect, useRef, useState } from 'preact/hooks';
/** Width of an element, in steps, so that not each pixel of a resized window makes a new layout. */
export function useWidth() {
  var ref = useRef(null);
  var _a = useState(0),
    width = _a[0],
    setWidth = _a[1];
  useEffect(function () {
    var el = ref.current;
    if (el === null) return;
    var observer = new ResizeObserver(function (_a) {
      var entry = _a[0];
      if (entry !== undefined) setWidth(Math.floor(entry.contentRect.width / 60) * 60);
    });
    observer.observe(el);
    return function () {
      observer.disconnect();
    };
  }, []);
  return { ref: ref, width: width };
}
