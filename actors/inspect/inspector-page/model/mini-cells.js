/** Cells in one row. */
var ACROSS = 8;
/** All states without children: each compound state begins a row, the rest share rows in the machine's order. */
export function miniCells(chart) {
  var cells = [];
  var row = 0;
  var col = 0;
  var put = function (state) {
    var _a;
    if (col === ACROSS) ((_a = [row + 1, 0]), (row = _a[0]), (col = _a[1]));
    cells.push({ path: state.path, row: row, col: col++ });
  };
  var newRow = function () {
    var _a;
    if (col > 0) ((_a = [row + 1, 0]), (row = _a[0]), (col = _a[1]));
  };
  var walk = function (state) {
    if (state.states.length === 0) {
      put(state);
      return;
    }
    newRow();
    state.states.forEach(walk);
    newRow();
  };
  // A machine's single states first, so that they do not cut the rows of the compound ones.
  chart.root.states
    .filter(function (s) {
      return s.states.length === 0;
    })
    .forEach(walk);
  chart.root.states
    .filter(function (s) {
      return s.states.length > 0;
    })
    .forEach(walk);
  return cells;
}
