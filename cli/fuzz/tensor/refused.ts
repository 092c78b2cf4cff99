/** The errors of autograd about a lost history that a backward pass needs. */
export const REFUSED: RegExp = /modified by an inplace operation|backward through the graph a second time/;
