let turn = 0
let isCounting = false

/** A number for the current turn of the event loop. */
export function currentTurn(): number {
  if (!isCounting) {
    isCounting = true
    setImmediate(endTurn)
  }
  return turn
}

/** Whether the turn that was given this number is still running. */
export function isCurrentTurn(number: number): boolean {
  return isCounting && number === turn
}

function endTurn(): void {
  isCounting = false
  turn += 1
}
