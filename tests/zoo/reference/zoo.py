"""What generate.py knows of a model: how it is made, what it is given, and how it is trained."""

SPECIMENS = {}


class Subject:
    """A model, its forward pass, its loss, and a function that makes the optimizers and gives a whole step."""

    def __init__(self, model, forward, loss, train, decode=None):
        self.model, self.forward, self.loss, self.train = model, forward, loss, train
        self.decode = decode


def specimen(name, batch):
    """Registers what makes a subject, with what makes the tensors of its batch."""

    def register(make):
        SPECIMENS[name] = (make, batch)
        return make

    return register
